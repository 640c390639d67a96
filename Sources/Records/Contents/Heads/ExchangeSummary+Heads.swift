internal import Base
package import Traffic

extension ExchangeSummary {
    /// Cuts the heads of a record.
    package init(_ record: ExchangeRecord) {
        self.init(record: record, head: record.headSummary)
    }

    /// The target URI of what was asked for.
    package var url: [UInt8] { record.url(method: head.method, target: head.target) }
}
