internal import Base
internal import Contents
internal import HTTPModel
package import Traffic

/// A recorded request as something to paste: a command, or a piece of a program.
///
/// What a peer sent can hold any bytes, so that each form quotes for its own language: nothing in
/// the text ends a quotation, and nothing acts on a terminal.
package struct RequestSnippet {
    package enum Form: String, Sendable, CaseIterable {
        case curl
        case httpie
        case fetch
        case urlsession
    }

    enum Content: Equatable {
        case none
        case bytes([UInt8])
        /// Too long or too secret to stand in the text: it is read out of the capture.
        case recorded
    }

    let exchange: Int64
    let method: [UInt8]
    let url: [UInt8]
    /// With all characters of the target as they came.
    let recordedURL: [UInt8]
    /// Whether the request told the length of its content.
    let saysLength: Bool
    /// Those that a client is told to send: framing is its own matter.
    let fields: [RecordedHead.Field]
    let content: Content
    /// A command that writes the content, for `recorded`.
    let source: String

    /// - Parameter capture: the path of the capture, to read a content out of.
    ///
    /// Errors: `no-snippet` for a tunnel, and for what is no request.
    package init(
        _ exchange: ExchangeRecord, of traffic: any TrafficSource, capture: String,
        withSecrets: Bool
    ) throws {
        let shown = withSecrets ? exchange : exchange.withoutSecretsInHeads
        let head = RecordedHead(shown.requestHead)
        guard !head.method.isEmpty, !head.method.equalsIgnoringCase("connect"),
            head.method.allSatisfy(\.isTokenByte)
        else {
            throw Failure(
                "no-snippet", party: .tool,
                "exchange \(exchange.id) is no request that can be sent again")
        }
        self.exchange = exchange.id
        method = Array(head.method)
        let whole = shown.url(head)
        let url = URLText.escaped(whole)
        self.url = url
        recordedURL = URLText.escaped(whole, onlyControls: true)
        source =
            "sallyport flows show \(ShellText.quoted(Array(capture.utf8))) \(exchange.id)"
            + " --part request-body"
        var isDecoded = false
        (content, isDecoded) = try Self.content(of: exchange, traffic, withSecrets)
        let authority = URLText(url)?.authority ?? ""
        saysLength = head.first(named: "content-length") != nil
        fields = head.fields.filter { field in
            let name = field.name.map(\.asciiLowercased).text
            if name == "host" { return field.value.text != authority }
            if isDecoded, name == "content-encoding" { return false }
            return !Self.framing.contains(name) && !field.name.isEmpty
                && field.name.allSatisfy(\.isTokenByte)
        }
    }

    /// The text, with a line end.
    package func text(as form: Form) -> String {
        switch form {
        case .curl: curl
        case .httpie: httpie
        case .fetch: fetch
        case .urlsession: urlSession
        }
    }

    func has(_ name: StaticString) -> Bool {
        fields.contains { $0.name.equalsIgnoringCase(name) }
    }

    private static func content(
        of exchange: ExchangeRecord, _ traffic: any TrafficSource, _ withSecrets: Bool
    ) throws -> (Content, isDecoded: Bool) {
        guard exchange.requestBody.size > 0 else { return (.none, false) }
        let head = RecordedHead(exchange.requestHead)
        let plan = try HARContentPlan(
            exchange, .request, head: head, withSecrets: withSecrets, in: traffic,
            checkpoint: {})
        guard exchange.requestBody.size <= byteLimit, plan.claimed == nil else {
            return (.recorded, false)
        }
        if plan.isMasked, let held = plan.held { return (.bytes(held), !plan.codings.isEmpty) }
        var bytes: [UInt8] = []
        try traffic.body(ofExchange: exchange.id, .request) { part in
            bytes += part
            return true
        }
        return (.bytes(bytes), false)
    }

    private static let framing = KnownField.hopByHopNames.union([
        "content-length", "expect", "http2-settings", "proxy-authorization",
    ])

    /// In bytes: a longer argument is refused by Linux.
    private static let byteLimit = 48 << 10
}
