// The modules that most files of the program use.
@_exported import ArgumentParser
@_exported import StorageEngine
@_exported import StoreInspection
@_exported import SystemC

#if canImport(FoundationEssentials)
@_exported import FoundationEssentials
#else
@_exported import Foundation
#endif
