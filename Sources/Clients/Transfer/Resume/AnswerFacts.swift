internal import Base
package import HTTPModel
internal import Origins

/// What of an answer's head decides how a download goes on.
package struct AnswerFacts: Sendable, Equatable {
    package let status: Int
    package var version: SavedVersion
    package let contentRange: Range
    /// In bytes of this content; `nil` where it does not say.
    package let length: Int64?
    package let retryAfter: RetryAfter?
    /// As it came; `nil` for none.
    package let location: String?
    /// In lower case, each once: the first eight of up to 32 bytes.
    package let schemes: [String]
    package let isMultipart: Bool

    package enum Range: Sendable, Equatable {
        case none
        case part(Swift.Range<Int64>, total: Int64?)
        case unsatisfied(total: Int64)
        /// With what is wrong with it.
        case invalid(String)
    }

    /// - Parameter now: for dates with two digits of a year.
    package init(url: String, _ head: ResponseHead, now: HTTPDate) {
        let fields = head.fields
        status = head.status
        version = SavedVersion(url: url, head)
        contentRange = Self.range(fields)
        length =
            fields.contains(.transferEncoding)
            ? nil : fields.first(.contentLength).flatMap { decimal($0) }.map { Int64(clamping: $0) }
        retryAfter = Self.retryAfter(fields, now: now)
        location = fields.first(named: "location").flatMap { value in
            value.allSatisfy { $0 > 0x20 && $0 < 0x7F } && value.count <= 8192 ? value.text : nil
        }
        schemes = Self.schemes(fields)
        isMultipart = version.contentType == "multipart/byteranges"
    }

    /// Nobody has more ways to log in, and what is kept of them is told in one line.
    private static func schemes(_ fields: Fields) -> [String] {
        var schemes: [String] = []
        for piece in fields.all(.wwwAuthenticate).flatMap({ $0.split(separator: 0x2C) }) {
            guard schemes.count < schemeLimit else { break }
            let word = piece.trimmingWhitespace.prefix { $0 != 0x20 }
            guard (1...schemeByteLimit).contains(word.count), word.allSatisfy(\.isASCIILetter)
            else { continue }
            let scheme = word.map(\.asciiLowercased).text
            if !schemes.contains(scheme) { schemes.append(scheme) }
        }
        return schemes
    }

    private static let schemeLimit = 8
    private static let schemeByteLimit = 32

    private static func range(_ fields: Fields) -> Range {
        let values = fields.all(named: "content-range")
        guard let value = values.first else { return .none }
        guard values.count == 1 else { return .invalid("Content-Range twice") }
        do throws(ContentRangeViolation) {
            switch try ContentRange(value) {
            case .part(let range, let total):
                return .part(
                    Int64(range.lowerBound)..<Int64(range.upperBound), total: total.map(Int64.init))
            case .unsatisfied(let total): return .unsatisfied(total: Int64(total))
            case .unknown: return .invalid("Content-Range says nothing")
            }
        } catch {
            return .invalid("Content-Range \(error.rawValue)")
        }
    }

    /// What a 407 is made of (RFC 9110 §15.5.8): the login of a task is for its origin alone.
    static func proxyLogin(at url: String) -> Failure {
        Failure(
            OriginFailureText.proxyLoginCode, party: .origin,
            "\(url): answers with 407, as a proxy does that wants a login, or does not take the one"
                + " that it got",
            hint:
                "name the proxy with user and password in http_proxy and https_proxy, and start the"
                + " daemon anew with transfer stop")
    }

    /// Less than has come already, of the same version.
    static func cutCopy(at url: String) -> Failure {
        Failure(
            "origin-violation", party: .origin,
            "\(url): answers with less than it had, as the same version")
    }

    private static func retryAfter(_ fields: Fields, now: HTTPDate) -> RetryAfter? {
        guard let value = fields.first(named: "retry-after") else { return nil }
        if let seconds = decimal(value) { return .seconds(Int64(clamping: seconds)) }
        return HTTPDate(value, now: now).map { .date($0.seconds) }
    }
}
