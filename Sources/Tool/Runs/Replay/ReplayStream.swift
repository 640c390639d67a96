internal import HTTPClient
internal import HTTPCodecs
internal import Replay
internal import Traffic
internal import Views

/// What decides when the messages of one exchange are sent again.
enum ReplayStream {
    case webSocket(WebSocketClientMachine, WebSocketScript)
    case call(CallClientMachine, CallScript)

    /// - Parameter timing: the recorded times are multiplied by so many thousandths; `nil` for none.
    /// - Returns: `nil` for an exchange whose content goes out at once.
    init?(
        _ record: ExchangeRecord, _ request: ClientRequest, from source: any TrafficSource,
        timing: Int64?
    ) throws {
        if request.opensWebSocket {
            let script = try WebSocketScript(record, from: source)
            self = .webSocket(WebSocketClientMachine(script), script)
            return
        }
        // Elsewhere than in the recorded content the messages stand at other places.
        guard case .pieces = request.content,
            let script = try CallScript(record, from: source, timing: timing)
        else { return nil }
        self = .call(CallClientMachine(script), script)
    }

    /// `nil` for a call over HTTP/1, which has no turns.
    var messages: ReplayClientReport.Messages? {
        switch self {
        case .webSocket(let machine, let script):
            ReplayClientReport.Messages(
                sent: machine.sent, total: script.messageCount, heard: machine.heard,
                recorded: script.awaited)
        case .call(let machine, let script):
            machine.hasBegun
                ? ReplayClientReport.Messages(
                    sent: machine.sent, total: script.lines.count, heard: machine.heard,
                    recorded: script.awaited) : nil
        }
    }
}
