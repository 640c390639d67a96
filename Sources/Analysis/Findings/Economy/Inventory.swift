internal import Base
internal import Contents
internal import Traffic

/// What was moved, by service, kind of content and protocol, whatever is wrong with it.
package struct Inventory: Sendable {
    /// The kinds of contents that are told apart; the raw values are a contract.
    package enum Kind: String, Sendable, CaseIterable {
        case json, html, xml, script, style, image, audio, video, font, form, multipart
        case protobuf, text, none, other
    }

    /// The raw values are a contract.
    package enum Version: String, Sendable, CaseIterable {
        case http1 = "HTTP/1"
        case http2 = "HTTP/2"
        case http3 = "HTTP/3"
        case other
    }

    package struct Amount: Sendable, Equatable {
        package private(set) var exchanges = 0
        package private(set) var clearExchanges = 0
        /// Of contents as they went over the wire.
        package private(set) var requestBytes: Int64 = 0
        package private(set) var responseBytes: Int64 = 0

        fileprivate mutating func add(_ exchange: ExchangeRecord) {
            exchanges += 1
            if exchange.scheme == .http { clearExchanges += 1 }
            requestBytes = requestBytes.addingSaturated(exchange.requestBody.size)
            responseBytes = responseBytes.addingSaturated(exchange.responseBody.size)
        }
    }

    package private(set) var total = Amount()
    package private(set) var services: [ServiceName: Amount] = [:]
    package private(set) var kinds: [Kind: Amount] = [:]
    package private(set) var versions: [Version: Amount] = [:]

    mutating func add(_ view: ExchangeView) {
        let (exchange, service) = (view.exchange, view.service)
        total.add(exchange)
        let isKnown = services[service] != nil || services.count < Self.serviceLimit
        services[isKnown ? service : .others, default: Amount()].add(exchange)
        kinds[Kind(view), default: Amount()].add(exchange)
        versions[Version(exchange.protocolName), default: Amount()].add(exchange)
    }

    /// The services that received and sent most first.
    package var largestServices: [(service: ServiceName, amount: Amount)] {
        services.map { (service: $0.key, amount: $0.value) }.sorted {
            ($1.amount.contentBytes, $0.service.text) < ($0.amount.contentBytes, $1.service.text)
        }
    }

    private static let serviceLimit = 1024
}

extension Inventory.Amount {
    var contentBytes: Int64 { requestBytes.addingSaturated(responseBytes) }
}

extension Inventory.Kind {
    /// What the response is, else what was sent.
    fileprivate init(_ view: ExchangeView) {
        let field = view.responseType.isEmpty ? view.requestType : view.responseType
        let type = MediaType(field[...])
        if type.isJSON {
            self = .json
        } else if type.isHTML {
            self = .html
        } else if type.isScript {
            self = .script
        } else if let kind = Self.named(field) {
            self = kind
        } else if type.isForm {
            self = .form
        } else if type.isMultipart {
            self = .multipart
        } else if type.isProtobuf || type.isGRPC {
            self = .protobuf
        } else if type.isXML {
            self = .xml
        } else if field.isEmpty {
            self = .none
        } else {
            self = type.isText ? .text : .other
        }
    }

    private static func named(_ field: [UInt8]) -> Inventory.Kind? {
        let text = field.prefix(10).lowercasedBytes.text
        if text.hasPrefix("image/") { return .image }
        if text.hasPrefix("audio/") { return .audio }
        if text.hasPrefix("video/") { return .video }
        if text.hasPrefix("font/") { return .font }
        return text.hasPrefix("text/css") ? .style : nil
    }
}

extension Inventory.Version {
    fileprivate init(_ name: String) {
        let found = Inventory.Version.allCases.first { name.hasPrefix($0.rawValue) }
        self = found ?? .other
    }
}
