/// Bytes in the coding `deflate`, stored and not compressed (RFC 1951 §3.2.4): what is in them can
/// be read.
package func deflated(_ bytes: [UInt8]) -> [UInt8] {
    let count = UInt16(bytes.count)
    let sizes = [count, ~count].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    return [1] + sizes + bytes
}
