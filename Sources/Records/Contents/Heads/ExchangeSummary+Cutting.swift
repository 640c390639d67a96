internal import Base
package import Traffic

extension ExchangeSummary {
    /// Cuts the heads of a record.
    package init(_ record: ExchangeRecord) {
        self.init(record: record)
        cutHeads()
    }

    /// Cuts the heads of its record.
    package mutating func cutHeads() {
        let request = RecordedHead(record.requestHead)
        method = request.method
        target = request.target
        let response = RecordedHead(record.responseHead)
        guard let type = response.first(named: "content-type") else { return }
        // Who reads the column with a program of his own is to get text.
        contentType = type.allSatisfy { $0 < 0x80 } ? type : Array(type.text.utf8)[...]
        if MediaType(type).isGRPC { grpcStatus = record.grpcStatus }
    }

    /// The target URI of what was asked for.
    package var url: [UInt8] { record.url(method: method, target: target) }
}
