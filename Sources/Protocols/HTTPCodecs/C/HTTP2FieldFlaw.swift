internal import Base
internal import CNgHTTP2

/// Why a field or a content of HTTP/2 is not allowed (RFC 9113 §8.1.1, §8.2, §8.3).
enum HTTP2FieldFlaw {
    /// In words, without the value, which may be a secret.
    static func text(_ name: Span<UInt8>, _ value: Span<UInt8>) -> String {
        guard name.count > 0 else { return "a field without a name is not allowed" }
        var shown: [UInt8] = []
        for index in 0..<min(64, name.count) { shown.append(name[index]) }
        let field = "the field \(shown.text)"
        // Where a pseudo-header field stands, and how often, counts as well.
        guard name[0] != 0x3A else { return "\(field) is not allowed there, or not with its value" }
        guard unsafe isSound(name, nghttp2_check_header_name) else {
            return "\(field) is not allowed"
        }
        return unsafe isSound(value, nghttp2_check_header_value)
            ? "\(field) is not allowed there, or not with its value"
            : "the value of \(field) is not allowed"
    }

    /// The field that the library complains of, without its value, which may be a secret.
    static func detail(_ complaint: String) -> String? {
        let parts = complaint.split(separator: "name: [", maxSplits: 1)
        guard parts.count == 2, let name = parts[1].split(separator: "]", maxSplits: 1).first
        else { return nil }
        return "the field \(name.prefix(64)) is not allowed"
    }

    /// Why the library resets a stream whose frames are sound (RFC 9113 §8.1.1, §6.9.1).
    static func contentDetail(_ code: UInt32) -> String {
        switch code {
        case HTTP2ErrorCode.protocolError:
            "the content is not as long as content-length says, or none is allowed"
        case HTTP2ErrorCode.flowControlError:
            "more was sent than a window allows, or it grew too far"
        default: "the stream was reset with \(HTTP2ErrorCode.name(code))"
        }
    }

    /// Whether a field can be spelled as a line of HTTP/1.
    static func isSpelled(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
        unsafe isSound(name, nghttp2_check_header_name)
            && isSound(value, nghttp2_check_header_value)
    }

    private static func isSound(
        _ bytes: Span<UInt8>, _ check: (UnsafePointer<UInt8>?, Int) -> Int32
    ) -> Bool {
        unsafe bytes.withUnsafeBufferPointer { unsafe check($0.baseAddress, $0.count) != 0 }
    }
}
