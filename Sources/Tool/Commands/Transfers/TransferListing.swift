internal import Base
internal import TLS
internal import Traffic
internal import TransferAnalysis
internal import Views

/// Which transfers are listed, and how.
struct TransferListing {
    var limit: Int64?
    var isJSON = false
    var withSecrets = false

    /// Lists the transfers that the exchanges which pass the filter make up.
    func write(
        _ source: any TrafficSource, _ filter: CaptureFilter, _ environment: Environment
    ) throws {
        let clients = try TransferClient.byConnection(of: source)
        var table = TransferTable(environment)
        var lines = LineWriter(environment.output)
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
