internal import Base
internal import Contents
internal import Traffic

/// The heads of an exchange, asked for what transfers are about.
struct TransferHeads {
    let exchange: ExchangeRecord
    let request: RecordedHead
    let response: RecordedHead
    let method: String
    /// As it was recorded.
    let url: [UInt8]

    init(_ exchange: ExchangeRecord) {
        self.exchange = exchange
        request = RecordedHead(exchange.requestHead)
        response = RecordedHead(exchange.responseHead)
        method = request.method.prefix(Self.methodLimit).text
        url = exchange.url(request)
    }

    func asked(_ name: StaticString) -> ArraySlice<UInt8>? { request.first(named: name) }
    func answered(_ name: StaticString) -> ArraySlice<UInt8>? { response.first(named: name) }

    /// The content that the request announces, in bytes; `nil` if it does not.
    var announcedRequest: Int64? { Self.length(request) }
    var announcedResponse: Int64? { Self.length(response) }

    /// Whether less of the request's content came than was announced, or nobody can tell.
    var requestIsCut: Bool {
        if let length = announcedRequest { return exchange.requestBody.size < length }
        return exchange.error != nil && exchange.status == 0
    }

    /// Whether a client would try again (RFC 9110 §15.6, RFC 6585 §4 and practice).
    var isTransientFailure: Bool {
        switch exchange.status {
        case 0, 408, 425, 429, 500, 502, 503, 504, 522, 524: true
        default: false
        }
    }

    var succeeded: Bool { (200..<300).contains(exchange.status) }

    private static func length(_ head: RecordedHead) -> Int64? {
        guard head.first(named: "transfer-encoding") == nil else { return nil }
        return head.first(named: "content-length").flatMap(number)
    }

    /// A count of bytes; `nil` for anything else and beyond 63 bits.
    static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        decimal(digits).flatMap { Int64(exactly: $0) }
    }

    private static let methodLimit = 32
}

/// A field's value for showing: no more of it than anybody would read.
func shown(_ value: ArraySlice<UInt8>?) -> String? {
    value.map { $0.prefix(256).text }
}
