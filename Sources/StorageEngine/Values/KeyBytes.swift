/// Calls `body` with the text's UTF-8, valid during the call.
@inline(__always) func withBytes<Value>(
    of key: String, _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Value
) throws(StorageError) -> Value {
    var key = key
    let result: Result<Value, StorageError> = key.withUTF8 { bytes in
        Result { () throws(StorageError) in try body(UnsafeRawBufferPointer(bytes)) }
    }
    return try result.get()
}

/// Calls `body` with the bytes, valid during the call.
@inline(__always) func withBytes<Value>(
    of bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Value
) throws(StorageError) -> Value {
    let result: Result<Value, StorageError> = bytes.withUnsafeBytes { bytes in
        Result { () throws(StorageError) in try body(bytes) }
    }
    return try result.get()
}

extension UnsafeRawBufferPointer {
    @inline(__always) static var empty: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: nil, count: 0)
    }
}
