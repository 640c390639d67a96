internal import Base
internal import Contents
internal import Traffic

/// One exchange, taken apart once for all rules.
final class ExchangeView {
    let exchange: ExchangeRecord
    let connection: ConnectionRecord?
    let host: HostName
    let service: ServiceName
    /// Where the host stands in a list of trackers.
    let tracker: TrackerHosts.Entry?
    let request: RecordedHead
    let response: RecordedHead
    let responseFacts: ResponseFacts
    let method: [UInt8]
    let target: RecordedURL
    let referer: RecordedURL?
    /// That of the page in Referer.
    let refererService: ServiceName?
    /// The values of the query and the path parameters.
    let urlFields: [MessageField]
    /// The values of the request's content.
    let bodyFields: [MessageField]
    /// The contents without their codings; as they came if those could not be undone.
    let requestBody: [UInt8]
    let responseBody: [UInt8]
    let undecodableBodies: Int
    /// Equal for equal contents of responses, `nil` if it is not known.
    let responseDigest: UInt64?
    /// Contents of which not all that may hold values was looked into, as far as rules have asked for
    /// values.
    var partlyReadBodies: Int { (isRequestCut ? 1 : 0) + (isResponsePartlyRead ? 1 : 0) }
    private let isRequestCut: Bool
    private var isResponsePartlyRead: Bool
    /// Whether some of the request's target or fields was not looked into.
    let isHeadPartlyRead: Bool
    private let isBodyPartlyRead: Bool
    /// Whether what the client sent may hold what nobody looked for.
    var isRequestPartlyRead: Bool { isHeadPartlyRead || isBodyPartlyRead }
    /// The header fields of the request, named in lower case, as they came.
    private(set) lazy var headerFields = request.lowercasedFields.map {
        MessageField(container: .header, name: $0.name, value: $0.value)
    }
    /// Those that may carry a key or something of a user's.
    private(set) lazy var tellingHeaderFields = headerFields.filter {
        !StandardFields.contains($0.name.text)
    }
    /// Those of the response, but for Set-Cookie, with what their encodings hide, and the values of
    /// its content.
    private(set) lazy var responseFields = readResponse()
    /// The same of a response that has fields by its type, for rules that run on every exchange:
    /// looking for some in every text would cost more than all of them.
    var structuredResponseFields: [MessageField] {
        let type = MediaType(responseType[...])
        let isStructured =
            type.isJSON || type.isXML || type.isForm || type.isEventStream
            || StructuredContent(type) != nil
            || JSONTokenizer.mayBegin(responseBody[...])
        return isStructured ? responseFields : []
    }
    /// The cookies of the request, and those that an origin set.
    private(set) lazy var cookies = Cookie.read(self)
    /// The values of the request wherever they stand, but for what it has to have and for what shows
    /// who the client is.
    private(set) lazy var requestFields = readRequest()
    /// What the request tells of a person or a device.
    private(set) lazy var personalValues = PersonalValue.read(requestFields)
    /// What the client shows who it is with.
    private(set) lazy var credentials = Credential.read(self)

    /// The port of the authority, 0 if it names none.
    var port: UInt16 { HostPort(exchange.authority)?.port ?? 0 }
    /// Whether the client sent it unencrypted.
    var isClear: Bool { exchange.scheme == .http }
    /// Whether it asks for a tunnel, and for nothing that is spoken inside.
    var isTunnel: Bool { request.asksForTunnel }
    /// Whether there is a response that an origin made.
    var hasOriginResponse: Bool { !exchange.answeredByTool && exchange.status != 0 }

    var malformedHeads: Int {
        let isCut = !request.startLine.isEmpty && request.target.isEmpty
        return (isCut || request.isMalformed ? 1 : 0) + (response.isMalformed ? 1 : 0)
    }

    private(set) lazy var requestType = request.texts("content-type").first ?? []
    var responseType: [UInt8] { responseFacts.type }

    /// What the origin's status says of the credentials.
    var verdict: [FindingNote] {
        guard hasOriginResponse else { return [] }
        return switch exchange.status {
        case 200..<400: [.serverAccepted]
        case 401, 403, 407: [.serverRejected]
        default: []
        }
    }

    init(
        _ exchange: ExchangeRecord, on connection: ConnectionRecord?, requestBody: [UInt8],
        responseBody: [UInt8], responseDigest: UInt64? = nil, parties: inout Parties
    ) {
        self.exchange = exchange
        self.responseDigest = responseDigest
        self.connection = connection
        let request = RecordedHead(exchange.requestHead)
        let target = RecordedURL(request.target.prefix(RecordedHead.valueLimit))
        self.request = request
        self.target = target
        method = Array(request.method.prefix(64))
        response = RecordedHead(exchange.responseHead)
        responseFacts = ResponseFacts(response)
        referer = request.texts("referer").first.map { RecordedURL($0) }
        host = HostName(exchange.authority)
        service = parties.service(of: host)
        tracker = parties.tracker(host)
        refererService = referer.flatMap { url in
            url.authority.isEmpty
                ? nil : parties.service(of: HostName(authority: Array(url.authority)))
        }
        let sent = Self.content(requestBody, of: request)
        let received = Self.content(responseBody, of: response)
        self.requestBody = sent.bytes
        self.responseBody = received.bytes
        undecodableBodies = [sent, received].count { $0.state == .undecodable }
        let type = request.texts("content-type").first ?? []
        var body = FieldReader()
        // What only claims a coding that is not known, such as utf-8, is read as it came.
        let isCoded = sent.state == .undecodable && !sent.bytes.isPrintableText
        if !isCoded { body.read(body: sent.bytes, contentType: type) }
        bodyFields = body.fields
        let isCut = Self.isCut(sent, exchange.requestBody, type)
        let media = MediaType(type[...])
        isBodyPartlyRead =
            body.isTruncated || isCut && media.mayHoldFields || isCoded && !media.isMedia
        isRequestCut = body.isTruncated || isCut
        isResponsePartlyRead = Self.isCut(received, exchange.responseBody, responseFacts.type)
        var urls = FieldReader()
        urls.add(target.parameters, container: .query)
        urls.add(target.pathParameters, container: .pathParameter)
        urls.add(referer?.parameters ?? [], container: .referer)
        urlFields = urls.fields
        isHeadPartlyRead =
            urls.isTruncated || request.target.count > RecordedHead.valueLimit
            || request.hasLongValues
    }

    /// Whether a content is larger than what is looked into, and no picture or film.
    private static func isCut(
        _ content: DecodedContent, _ body: BodyRecord, _ type: [UInt8]?
    ) -> Bool {
        (content.state == .cut || body.size > CaptureInspection.contentLimit)
            && !MediaType(type?[...]).isMedia
    }

    private func readRequest() -> [MessageField] {
        var reader = FieldReader(byteLimit: 1 << 18)
        for field in tellingHeaderFields {
            let name = field.name.text
            guard !StandardFields.areCredentials(name), name != "referer" else { continue }
            reader.add(
                MessageField(
                    container: .header, name: field.name,
                    value: Array(field.value.prefix(MessageField.valueLimit))))
        }
        for cookie in cookies where !cookie.isSet { reader.add(cookie.field) }
        return urlFields.filter { $0.container != .referer } + reader.fields + bodyFields
    }

    private func readResponse() -> [MessageField] {
        guard hasOriginResponse else { return [] }
        var reader = FieldReader()
        for field in response.lowercasedFields where field.name.text != "set-cookie" {
            reader.add(
                MessageField(
                    container: .header, name: field.name,
                    value: Array(field.value.prefix(MessageField.valueLimit))))
        }
        reader.read(body: responseBody, contentType: responseType)
        if reader.isTruncated { isResponsePartlyRead = true }
        return reader.fields
    }

    private static func content(_ body: [UInt8], of head: RecordedHead) -> DecodedContent {
        DecodedContent(body, head.contentCodings, byteLimit: CaptureInspection.contentLimit)
    }
}

extension MediaType {
    /// Whether it is one of those whose values are read, or none is declared.
    fileprivate var mayHoldFields: Bool {
        isText || isPlain || isForm || isMultipart || isJSON || isXML || isGraphQL || isGRPC
            || StructuredContent(self) != nil
    }
}

extension RecordedHead {
    /// The values of the fields of this name, which is in lower case, as far as rules look at them.
    func texts(_ name: StaticString) -> [[UInt8]] {
        values(named: name).map { Array($0.prefix(Self.valueLimit)) }
    }

    /// The fields as rules look at them: named in lower case, without those of HTTP/2 alone.
    var lowercasedFields: [Field] {
        places.compactMap { place in
            let name = bytes[place.name].prefix(Self.nameLimit)
            guard let first = name.first, first != 0x3A else { return nil }
            return Field(
                name: name.lowercasedBytes, value: Array(value(place).prefix(Self.valueLimit)))
        }
    }

    /// Whether a value is longer than rules look at.
    fileprivate var hasLongValues: Bool {
        bytes.count > Self.valueLimit && places.contains { value($0).count > Self.valueLimit }
    }

    private static var nameLimit: Int { 256 }
    /// In bytes.
    static var valueLimit: Int { 1 << 16 }
}
