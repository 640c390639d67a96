internal import Base
package import Traffic

extension ExchangeSummary {
    /// Cuts the heads of a record.
    package init(_ record: ExchangeRecord) {
        self.init(record: record)
        let head = RecordedHead(record.requestHead)
        method = head.method
        target = head.target
        guard let type = RecordedHead(record.responseHead).first(named: "content-type") else {
            return
        }
        contentType = type.text
        if MediaType(type).isGRPC { grpcStatus = record.grpcStatus }
    }

    /// The target URI of what was asked for.
    package var url: [UInt8] { record.url(method: method, target: target) }
}
