@inline(__always)
func withBytes<Value>(
    of key: String, _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Value
) throws(StorageError) -> Value {
    var key = key
    let result: Result<Value, StorageError> = key.withUTF8 { bytes in
        do throws(StorageError) {
            return .success(try body(UnsafeRawBufferPointer(bytes)))
        } catch {
            return .failure(error)
        }
    }
    return try result.get()
}
