import Foundation
import StorageEngine

extension StoreOptions {
    /// For who looks into a store from a terminal: `VELLUM_TRUST_OWNER` set to 1 says that its owner is trusted.
    package static var forLooking: StoreOptions {
        StoreOptions(trustsOwner: ProcessInfo.processInfo.environment["VELLUM_TRUST_OWNER"] == "1")
    }
}
