#if !canImport(Combine)
// A program that uses publishers needs no other import.
@_exported import Dispatch
@_exported import OpenCombine
@_exported import OpenCombineDispatch
#endif
