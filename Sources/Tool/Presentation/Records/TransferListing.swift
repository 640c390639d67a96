internal import Base
internal import TLS
package import Terminal
package import Traffic
internal import TransferAnalysis
package import Views

/// Which transfers are listed, and how.
package struct TransferListing {
    private let limit: Int64?
    private let isJSON: Bool
    private let withSecrets: Bool

    package init(limit: Int64?, isJSON: Bool, withSecrets: Bool) {
        self.limit = limit
        self.isJSON = isJSON
        self.withSecrets = withSecrets
    }

    /// Lists the transfers that the exchanges which pass the filter make up.
    package func write(
        _ source: any TrafficSource, _ filter: CaptureFilter, to console: Console
    ) throws {
        let clients = try TransferClient.byConnection(of: source)
        var table = TransferTable(to: console)
        var lines = LineWriter(console.output)
        var left = limit ?? Int64.max
        let ledger = TransferLedger(source, makeHash: RunningHash.init) { transfer in
            let summary = TransferSummary(transfer, withSecrets: withSecrets)
            if isJSON {
                try lines.write(summary.json.line)
            } else {
                try table.append(summary)
            }
            left -= 1
            return left > 0
        }
        try source.exchanges { exchange in
            guard try filter.accepts(exchange) else { return true }
            try ledger.take(
                exchange,
                from: clients[exchange.connection] ?? TransferClient(address: "", program: nil))
            return !ledger.isStopped
        }
        try ledger.finish()
        try lines.flush()
        try table.finish()
    }
}
