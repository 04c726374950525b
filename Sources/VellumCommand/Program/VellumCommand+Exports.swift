// The system's library and FoundationEssentials for all files of the program.
@_exported import SystemC

#if canImport(FoundationEssentials)
@_exported import FoundationEssentials
#else
@_exported import Foundation
#endif
