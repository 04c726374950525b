#if !canImport(Combine)
// So that a program that uses publishers needs no other import.
@_exported import Dispatch
@_exported import OpenCombine
@_exported import OpenCombineDispatch
#endif
