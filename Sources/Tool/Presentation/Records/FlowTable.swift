internal import Base
package import Terminal
package import Views

/// The columns of a list of exchanges.
package enum FlowTable {
    package static let columns: [Listing<FlowSummary>.Column] = [
        .init("id", isRight: true) { TableWriter.Cell(number: $0.id, .faint) },
        .init("time", title: "time (UTC)", rank: 3) { TableWriter.Cell($0.startedAt.timeOfDay) },
        .init("protocol", rank: 4) {
            TableWriter.Cell($0.isHeadMissing ? "-" : $0.protocolName)
        },
        .init("method") {
            $0.isHeadMissing ? TableWriter.Cell("-") : TableWriter.Cell(bytes: $0.method)
        },
        .init("status", isRight: true) {
            let style = statusStyle($0.status)
            guard let status = $0.status else { return TableWriter.Cell("-", style) }
            return TableWriter.Cell(number: Int64(status), style)
        },
        .init("url", isFlexible: true) {
            $0.isHeadMissing ? TableWriter.Cell("-") : TableWriter.Cell(bytes: $0.url)
        },
        .init("size", isRight: true, rank: 1) {
            TableWriter.Cell(Quantity.text(byteCount: $0.responseBytes))
        },
        .init("duration", isRight: true, rank: 2) {
            TableWriter.Cell($0.durationMicroseconds.map(Quantity.text(microseconds:)) ?? "-")
        },
        .init("error") { TableWriter.Cell($0.remark, .red) },
    ]
}

/// How a status is coloured; `nil` means that no response came.
func statusStyle(_ status: Int?) -> Palette.Style? {
    switch status {
    case nil: .red
    case .some(200..<300): .green
    case .some(300..<400): .cyan
    case .some(400..<500): .yellow
    case .some(500...): .red
    default: nil
    }
}
