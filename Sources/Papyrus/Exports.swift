#if !canImport(Combine)
// So that a program that observes with publishers needs no other import here.
@_exported import Dispatch
@_exported import OpenCombine
@_exported import OpenCombineDispatch
#endif
