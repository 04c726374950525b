// The system's library, for all files of the module.
@_exported import SystemC
