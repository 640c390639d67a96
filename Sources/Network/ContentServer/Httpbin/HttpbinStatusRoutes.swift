internal import Base
internal import HTTPModel
internal import HTTPServer
internal import Synchronization

/// Any status, or one drawn from several: `/status/200:3,503`.
final class HttpbinStatusRoutes: Sendable {
    private let seed: UInt64
    /// How many were drawn: a run that asks for the same gets the same.
    private let drawn = Atomic<UInt64>(0)

    init(_ configuration: ContentServerConfiguration) {
        seed = configuration.seed
    }

    var routes: [HttpbinRoute] { [.any("/status/:codes", status)] }

    private func status(_ request: ServerRequest) -> ServerResponse {
        guard let weighed = Self.weighed(request.match["codes"]) else { return .plain(400) }
        guard weighed.count > 1 else { return Self.response(Int(weighed[0].code)) }
        let sum = weighed.reduce(0) { $0 + $1.weight }
        let ordinal = drawn.wrappingAdd(1, ordering: .relaxed).oldValue
        var drawn = GeneratedContent(seed: seed).word(ordinal) % sum
        for (code, weight) in weighed {
            if drawn < weight { return Self.response(Int(code)) }
            drawn -= weight
        }
        return .plain(400)
    }

    /// Codes with their weights in thousandths; `nil` if one is malformed or all weigh nothing.
    private static func weighed(_ text: [UInt8]) -> [(code: UInt64, weight: UInt64)]? {
        var weighed: [(code: UInt64, weight: UInt64)] = []
        for element in text.split(separator: 0x2C, maxSplits: limit) {
            let code = element.prefix { $0 != UInt8(ascii: ":") }
            guard let number = decimal(code), (200...599).contains(number) else { return nil }
            guard code.count < element.count else {
                weighed.append((number, 1000))
                continue
            }
            guard let weight = Double(element.dropFirst(code.count + 1).text),
                (0...1_000_000).contains(weight)
            else { return nil }
            weighed.append((number, UInt64(weight * 1000)))
        }
        return weighed.contains { $0.weight > 0 } ? weighed : nil
    }

    static func response(_ code: Int) -> ServerResponse {
        var response = ServerResponse.plain(code)
        switch code {
        // Fields without which these are no proper responses (RFC 9110 §15).
        case 204, 205, 304: response = ServerResponse(code)
        case 206: response.fields.append(ResponseField("Content-Range", "bytes 0-19/20"))
        case 300...308: response.fields.append(ResponseField("Location", "/"))
        case 401:
            response.fields.append(ResponseField("WWW-Authenticate", "Basic realm=\"sallyport\""))
        case 405: response.fields.append(ResponseField("Allow", ""))
        case 407:
            response.fields.append(ResponseField("Proxy-Authenticate", "Basic realm=\"sallyport\""))
        case 416: response.fields.append(ResponseField("Content-Range", "bytes */0"))
        case 426: response.fields.append(ResponseField("Upgrade", "HTTP/2.0"))
        case 429, 503: response.fields.append(ResponseField("Retry-After", "1"))
        default: break
        }
        return response
    }

    private static let limit = 64
}
