internal import Base
package import Traffic

extension ExchangeRecord {
    /// What its heads say for a list.
    package var headCut: HeadCut {
        var cut = HeadCut()
        let request = RecordedHead(requestHead)
        cut.method = request.method
        cut.target = request.target
        let response = RecordedHead(responseHead)
        guard let type = response.first(named: "content-type") else { return cut }
        // Who reads the column with a program of his own is to get text.
        cut.contentType = type.allSatisfy { $0 < 0x80 } ? type : Array(type.text.utf8)[...]
        if MediaType(type).isGRPC { cut.grpcStatus = grpcStatus }
        return cut
    }
}

extension ExchangeSummary {
    /// Cuts the heads of a record.
    package init(_ record: ExchangeRecord) {
        self.init(record: record, cut: record.headCut)
    }

    /// The target URI of what was asked for.
    package var url: [UInt8] { record.url(method: cut.method, target: cut.target) }
}
