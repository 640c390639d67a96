/// What a peer did that HTTP/1 does not allow, one case a shape (RFC 9110, RFC 9112).
///
/// The raw value is the stable code.
package enum HTTP1Violation: String, Error, Sendable, Equatable, CaseIterable {
    // Lines
    case bareLF = "bare-lf"
    case bareCR = "bare-cr"
    case startLineTooLong = "line-too-long"
    case fieldLineTooLong = "field-line-too-long"
    case headTooLarge = "head-too-large"
    case tooManyFields = "too-many-fields"
    case tooManyInterims = "too-many-interim-responses"
    // Start lines
    case invalidRequestLine = "invalid-request-line"
    case invalidMethod = "invalid-method"
    case invalidTarget = "invalid-target"
    case unsupportedScheme = "unsupported-scheme"
    case unsupportedVersion = "unsupported-version"
    case invalidStatusLine = "invalid-status-line"
    // Fields
    case obsoleteFold = "obs-fold"
    case spaceBeforeColon = "space-before-colon"
    case invalidFieldName = "invalid-field-name"
    case invalidFieldValue = "invalid-field-value"
    case missingHost = "missing-host"
    case duplicateHost = "duplicate-host"
    // Framing
    case bothLengths = "both-lengths"
    case duplicateContentLength = "duplicate-content-length"
    case invalidContentLength = "invalid-content-length"
    case transferEncodingInHTTP10 = "transfer-encoding-in-http10"
    case invalidTransferEncoding = "invalid-transfer-encoding"
    case chunkedNotFinal = "chunked-not-final"
    case chunkedTwice = "chunked-twice"
    case unsupportedTransferCoding = "unsupported-transfer-coding"
    case connectWithContent = "connect-with-content"
    case unaskedSwitch = "unasked-switch"
    case earlySwitch = "early-switch"
    // Chunks
    case invalidChunkSize = "invalid-chunk-size"
    case invalidChunkExtension = "invalid-chunk-extension"
    case chunkLineTooLong = "chunk-line-too-long"
    case chunkExtensionsTooLarge = "chunk-extensions-too-large"
    case missingChunkEnd = "missing-chunk-end"

    /// A stable word that programs may compare.
    package var code: String { rawValue }

    /// What a server answers to a request of this shape; a gateway answers 502 to such a response.
    package var status: Int {
        switch self {
        case .startLineTooLong: 414
        case .fieldLineTooLong, .headTooLarge, .tooManyFields: 431
        case .unsupportedTransferCoding: 501
        case .unsupportedVersion: 505
        default: 400
        }
    }

    /// Whether two recipients can disagree about where the message ends or for whom it is.
    package var isSmuggling: Bool {
        switch self {
        case .bareLF, .bareCR, .obsoleteFold, .spaceBeforeColon, .duplicateHost, .bothLengths,
            .duplicateContentLength, .invalidContentLength, .transferEncodingInHTTP10,
            .invalidTransferEncoding, .chunkedNotFinal, .chunkedTwice, .connectWithContent,
            .unaskedSwitch, .earlySwitch, .invalidChunkSize, .invalidChunkExtension,
            .missingChunkEnd:
            true
        default: false
        }
    }

    /// What happened, for people only.
    package var detail: String {
        switch self {
        case .bareLF: "a line ends with LF alone"
        case .bareCR: "a CR is not followed by LF"
        case .startLineTooLong: "the first line is too long"
        case .fieldLineTooLong: "a field line is too long"
        case .headTooLarge: "the field section is too large"
        case .tooManyFields: "there are too many fields"
        case .tooManyInterims: "there are too many interim responses"
        case .invalidRequestLine: "the first line is no request line"
        case .invalidMethod: "the method is no token"
        case .invalidTarget: "the request target is malformed"
        case .unsupportedScheme: "the request target's scheme is neither http nor https"
        case .unsupportedVersion: "the version is neither HTTP/1.0 nor HTTP/1.1"
        case .invalidStatusLine: "the first line is no status line"
        case .obsoleteFold: "a field line starts with white space"
        case .spaceBeforeColon: "there is white space between a field's name and its colon"
        case .invalidFieldName: "a field's name is empty, no token, or without a colon"
        case .invalidFieldValue: "a field's value holds a control character"
        case .missingHost: "there is no Host field"
        case .duplicateHost: "there is more than one Host field"
        default: framingDetail
        }
    }

    private var framingDetail: String {
        switch self {
        case .bothLengths: "there are both Transfer-Encoding and Content-Length"
        case .duplicateContentLength: "there is more than one Content-Length"
        case .invalidContentLength: "the Content-Length is no decimal number below 2^63"
        case .transferEncodingInHTTP10: "there is a Transfer-Encoding in HTTP/1.0"
        case .invalidTransferEncoding: "the Transfer-Encoding is no list of tokens"
        case .chunkedNotFinal: "the last transfer coding is not chunked"
        case .chunkedTwice: "the transfer coding chunked is applied twice"
        case .unsupportedTransferCoding: "there is a transfer coding other than chunked"
        case .connectWithContent: "a CONNECT request announces content"
        case .unaskedSwitch: "a 101 switches to a protocol that the request did not offer"
        case .earlySwitch: "a 101 switches protocols before the request is complete"
        case .invalidChunkSize: "a chunk's size is no hexadecimal number below 2^63"
        case .invalidChunkExtension: "a chunk extension holds a control character"
        case .chunkLineTooLong: "a chunk's size line is too long"
        case .chunkExtensionsTooLarge: "the chunk extensions of one body are too large"
        case .missingChunkEnd: "a chunk's content is not followed by CRLF"
        default: code
        }
    }
}
