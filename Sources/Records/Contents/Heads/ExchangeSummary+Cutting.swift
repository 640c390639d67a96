internal import Base
package import Traffic

extension ExchangeSummary {
    /// Cuts the heads of a record.
    package init(_ record: ExchangeRecord) {
        self.init(record: record)
        // For each exchange that is written: the first line, and one field.
        let head = RecordedHead(record.requestHead, isAskedOnce: true)
        method = head.method
        target = head.target
        let response = RecordedHead(record.responseHead, isAskedOnce: true)
        guard let type = response.first(named: "content-type") else { return }
        contentType = type.text
        if MediaType(type).isGRPC { grpcStatus = record.grpcStatus }
    }

    /// The target URI of what was asked for.
    package var url: [UInt8] { record.url(method: method, target: target) }
}
