package import Base
package import Traffic

/// What a filter can ask about.
package enum FilterField: Hashable, Sendable {
    /// What a bare word is looked for in: the URL, where a connection went, or what a message says.
    case bare
    case named(Name)
    /// Fields of the heads of this name, which is in lower case.
    case header(String, Side)

    package enum Side: Sendable {
        case either
        case request
        case response
    }

    package enum Name: String, CaseIterable, Sendable {
        case host, port, path, query, url, method, status, scheme
        case type
        case requestType = "request-type"
        case responseType = "response-type"
        case size
        case requestSize = "request-size"
        case duration, wait, time, id, connection, exchange
        case client, listener, origin, process
        case protocolName = "protocol"
        case mode, tls, cipher, sni, alpn, ja3, ja4, outcome, alert, upgrade, note, error
        case exchanges, messages
        case kind, direction, detail
        case headers
        case requestHeaders = "request-headers"
        case responseHeaders = "response-headers"
        case finding
        case severity = "finding.severity"
        case body
        case requestBody = "request-body"
        case responseBody = "response-body"
    }

    /// What is filtered.
    package enum Subject: CaseIterable, Sendable {
        case exchanges
        case connections
        case messages
        /// Exchanges and connections alike.
        case records

        package var names: [Name] {
            switch self {
            case .exchanges:
                Self.records.names.filter { ![.messages, .exchanges].contains($0) }
                    + [.finding, .severity]
            case .connections:
                [
                    .host, .port, .size, .duration, .time, .id, .client, .listener, .origin,
                    .process, .protocolName, .mode, .tls, .cipher, .sni, .alpn, .ja3, .ja4,
                    .outcome, .alert, .upgrade, .note, .error, .exchanges, .messages, .finding,
                    .severity,
                ]
            case .messages:
                [.id, .kind, .direction, .size, .time, .exchange, .detail, .body]
            case .records:
                [
                    .host, .port, .path, .query, .url, .method, .status, .scheme, .type,
                    .requestType, .responseType, .size, .requestSize, .duration, .wait, .time, .id,
                    .connection, .client, .listener, .origin, .process, .protocolName, .mode, .tls,
                    .cipher, .sni, .alpn, .ja3, .ja4, .outcome, .alert, .upgrade, .note, .error,
                    .exchanges, .messages, .headers, .requestHeaders, .responseHeaders, .body,
                    .requestBody, .responseBody,
                ]
            }
        }

        var hasHeaders: Bool { self == .exchanges || self == .records }

        package var words: String {
            switch self {
            case .exchanges: "exchanges"
            case .connections: "connections"
            case .messages: "messages"
            case .records: "exchanges and connections"
            }
        }
    }

    package enum Kind: Sendable {
        case text
        case number
        case status
        case byteCount
        case duration
        case time
        case severity
    }

    /// What it takes to know a value, the least first.
    package enum Cost: Int, Sendable {
        /// It stands in the record.
        case record
        /// A head has to be read.
        case head
        /// The connection of an exchange has to be looked up.
        case connection
        /// The whole capture has to be judged, once.
        case findings
        /// A content has to be read and decoded.
        case content
    }

    package var kind: Kind {
        switch self {
        case .named(.status): .status
        case .named(.size), .named(.requestSize): .byteCount
        case .named(.duration), .named(.wait): .duration
        case .named(.time): .time
        case .named(.severity): .severity
        case .named(.id), .named(.messages), .named(.exchanges), .named(.connection),
            .named(.exchange), .named(.port):
            .number
        default: .text
        }
    }

    package var cost: Cost {
        switch self {
        case .bare, .header: .head
        case .named(let name):
            switch name {
            case .body, .requestBody, .responseBody: .content
            case .finding, .severity: .findings
            case .client, .listener, .origin, .process, .mode, .tls, .cipher, .sni, .alpn, .ja3,
                .ja4, .outcome, .alert, .note:
                .connection
            case .path, .query, .url, .method, .type, .requestType, .responseType, .headers,
                .requestHeaders, .responseHeaders, .upgrade:
                .head
            default: .record
            }
        }
    }

    /// The messages of an exchange that it is about.
    var directions: [Direction] {
        switch self {
        case .header(_, .request), .named(.requestBody), .named(.requestHeaders),
            .named(.requestType):
            [.request]
        case .header(_, .response), .named(.responseBody), .named(.responseHeaders),
            .named(.responseType):
            [.response]
        default: [.request, .response]
        }
    }

    package var title: String {
        switch self {
        case .bare: "a word"
        case .named(let name): name.rawValue
        case .header(let name, .either): "header:\(name)"
        case .header(let name, .request): "request-header:\(name)"
        case .header(let name, .response): "response-header:\(name)"
        }
    }
}

/// A record that a filter can be asked about.
package protocol FilterSubject {
    /// The values of a field of text; none if the record has none.
    func texts(of field: FilterField) throws -> [ArraySlice<UInt8>]
    /// The values of a field of another kind, in bytes or microseconds; none if there is none.
    func numbers(of field: FilterField) throws -> [Int64]
    /// Calls `visit` with each piece of a content, decoded, until it returns false.
    func content(_ direction: Direction, _ visit: (ArraySlice<UInt8>) throws -> Bool) throws
}

/// What an exchange or a connection does not hold itself.
package protocol FilterSource: AnyObject {
    /// The connection that an exchange came on, `nil` if it is not known.
    func connection(_ id: Int64) throws -> ConnectionRecord?
    func findings(ofExchange id: Int64) throws -> [FilterFinding]
    func findings(ofConnection id: Int64) throws -> [FilterFinding]
    /// Calls `visit` with each piece of a content, without its codings, until it returns false; the
    /// messages of a WebSocket are its content, a line each.
    func content(
        of exchange: ExchangeRecord, _ direction: Direction,
        _ visit: (ArraySlice<UInt8>) throws -> Bool) throws
}

/// What was found about a record.
package struct FilterFinding: Hashable, Sendable {
    /// The rule's name, such as `URL-TOKEN`.
    package let rule: String
    package let severity: Severity

    package init(rule: String, severity: Severity) {
        self.rule = rule
        self.severity = severity
    }
}
