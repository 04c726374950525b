import Foundation
import StorageEngine

extension StoreOptions {
    /// Options for inspecting a store. `VELLUM_TRUST_OWNER=1` trusts the store's owner.
    package static var forReading: StoreOptions {
        StoreOptions(trustsOwner: ProcessInfo.processInfo.environment["VELLUM_TRUST_OWNER"] == "1")
    }

    /// Options for changing a store, under a process name that other processes see.
    package static func forChanging(as name: String) -> StoreOptions {
        var options = StoreOptions(processName: name)
        options.keepsEntriesWithoutIndex = true
        return options
    }
}
