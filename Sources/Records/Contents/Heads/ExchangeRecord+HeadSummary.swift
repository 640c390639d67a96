internal import Base
package import Traffic

extension ExchangeRecord {
    /// What its heads say for a list.
    package var headSummary: HeadSummary {
        var head = HeadSummary()
        let request = RecordedHead(requestHead)
        head.method = request.method
        head.target = request.target
        let response = RecordedHead(responseHead)
        guard let type = response.first(named: "content-type") else { return head }
        // Who reads the column with a program of his own is to get text.
        head.contentType = type.allSatisfy { $0 < 0x80 } ? type : Array(type.text.utf8)[...]
        if MediaType(type).isGRPC { head.grpcStatus = grpcStatus }
        return head
    }
}
