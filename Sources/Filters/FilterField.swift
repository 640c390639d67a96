/// What a filter can ask about.
package enum FilterField: Equatable {
    /// What a bare word is looked for in: the URL, or where a connection went.
    case bare
    case named(Name)
    /// Fields of the heads of this name, which is in lower case.
    case header(String)

    package enum Name: String, CaseIterable {
        case host, path, url, method, status, scheme, size
        case requestSize = "request-size"
        case duration, id, client
        case protocolName = "protocol"
        case error
        case outcome, sni, alpn, tls, cipher, alert, listener, messages, process, upgrade, note
    }

    /// What is filtered.
    package enum Subject {
        case exchanges
        case connections

        package var names: [Name] {
            switch self {
            case .exchanges:
                [
                    .host, .path, .url, .method, .status, .scheme, .size, .requestSize, .duration,
                    .id, .client, .protocolName, .error,
                ]
            case .connections:
                [
                    .host, .size, .duration, .id, .client, .protocolName, .error, .outcome, .sni,
                    .alpn, .tls, .cipher, .alert, .listener, .messages, .process, .upgrade, .note,
                ]
            }
        }

        package var words: String { self == .exchanges ? "exchanges" : "connections" }
    }

    enum Kind {
        case text
        case number
        case status
        case byteCount
        case duration
    }

    var kind: Kind {
        switch self {
        case .named(.status): .status
        case .named(.size), .named(.requestSize): .byteCount
        case .named(.duration): .duration
        case .named(.id), .named(.messages): .number
        default: .text
        }
    }

    var title: String {
        switch self {
        case .bare: "a word"
        case .named(let name): name.rawValue
        case .header(let name): "header:\(name)"
        }
    }
}

/// A record that a filter can be asked about.
package protocol FilterSubject {
    /// The values of a field of text; none if the record has none.
    func texts(of field: FilterField) -> [String]
    /// The value of a field of another kind, in bytes or microseconds; `nil` if there is none.
    func number(of field: FilterField) -> Int64?
}
