internal import Base
internal import Contents
package import HTTPModel

/// A request as it is compared, recorded or live.
package struct RequestFacts: Sendable {
    package let method: String
    /// Scheme and authority, such as `https://example.com`.
    package private(set) var origin: String
    package let path: String
    /// The query as it came.
    package let query: [UInt8]
    package let fields: Fields
    /// Whether it asks for a WebSocket, in either version of HTTP.
    package let opensWebSocket: Bool
    package var body: BodyForm

    /// - Parameters:
    ///   - authority: where it goes, without the scheme's standard port.
    ///   - target: the path with the query.
    package init(
        method: String, isSecure: Bool, authority: String, target: ArraySlice<UInt8>,
        fields: Fields, opensWebSocket: Bool, body: BodyForm = .none
    ) {
        self.method = opensWebSocket ? "GET" : method
        origin = (isSecure ? "https://" : "http://") + authority
        let pathBytes = target.prefix { $0 != 0x3F }
        path = pathBytes.text
        query = Array(target.dropFirst(pathBytes.count + 1))
        self.fields = fields
        self.opensWebSocket = opensWebSocket
        self.body = body
    }

    /// Where rules look for it.
    var place: (authority: String, path: String) {
        let start = origin.utf8.firstIndex(of: 0x2F).map { origin.utf8.index($0, offsetBy: 2) }
        return (start.map { String(origin[$0...]) } ?? origin, path)
    }

    /// The whole URL.
    package var url: String { origin + path + (query.isEmpty ? "" : "?" + query.text) }

    /// The same request, to its origin as it was recorded under another name.
    func at(_ origin: String) -> RequestFacts {
        var facts = self
        facts.origin = origin
        return facts
    }

    /// Whether its content is a stream of gRPC's messages, to be answered while it comes.
    package var isGRPC: Bool { MediaType(fields.first(.contentType)).isGRPC }
}
