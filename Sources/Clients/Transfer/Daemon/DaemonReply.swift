package import Base
internal import Contents

/// What the daemon tells a client: one line of the schema `sallyport.transfer-control/1`. A request
/// is answered with any number of them, and `done` or `failed` at the end.
package enum DaemonReply: Sendable, Equatable {
    /// Comes first, unasked.
    ///
    /// - `proxies`: a digest of the variables that name its proxies; `nil` where others do.
    case ready(processID: Int64, proxies: String? = nil)
    case task(TransferTask)
    case event(TransferEvent)
    case done
    case failed(Failure)

    /// Not longer than a line may be. An event always has one: what ends a watch would end it again each
    /// time, since the event is told until it is acknowledged.
    var line: [UInt8] {
        let line = json.line
        guard line.count > DaemonLines.lineLimit else { return line }
        let short: [DaemonReply] =
            switch self {
            case .task(let task): [.task(task.shortened)]
            case .event(let event): [.event(event.shortened), .event(event.shortest)]
            case .failed(let failure): [.failed(failure.shortened)]
            case .ready, .done: []
            }
        for reply in short {
            let line = reply.json.line
            if line.count <= DaemonLines.lineLimit { return line }
        }
        let failure = Failure(
            "reply-too-long", party: .tool, "what is known of a transfer is too long to be told")
        return DaemonReply.failed(failure).json.line
    }

    private var json: JSONText {
        func reply(_ name: String, _ members: KeyValuePairs<String, JSONText> = [:]) -> JSONText {
            .object(
                [
                    JSONText.Member("schema", .string(DaemonRequest.schema)),
                    JSONText.Member("reply", .string(name)),
                ] + members.map { JSONText.Member($0.key, $0.value) })
        }
        switch self {
        case .ready(let processID, let proxies):
            return reply(
                "ready",
                [
                    "pid": .integer(processID), "proxies": .optional(proxies),
                ])
        case .task(let task): return reply("task", ["task": task.row])
        case .event(let event):
            return reply(
                "event",
                [
                    "kind": .string(event.kind.name), "number": .integer(event.number),
                    "schemes": .texts(event.kind.schemes), "host": .optional(event.kind.host),
                    "task": event.task.row,
                ])
        case .done: return reply("done")
        case .failed(let failure): return reply("failed", ["error": failure.journal])
        }
    }

    /// Reads a reply; `nil` for what is none.
    init?(line: [UInt8]) {
        guard let value = JSONObject(line), value.text("schema") == DaemonRequest.schema else {
            return nil
        }
        let task = value.object("task").flatMap { TransferTask(row: $0) }
        switch value.text("reply") {
        case "ready":
            self = .ready(
                processID: value.integer("pid") ?? 0, proxies: value.text("proxies"))
        case "task":
            guard let task else { return nil }
            self = .task(task)
        case "event":
            guard let task, let number = value.integer("number"),
                let kind = TransferEvent.Kind(value, task)
            else { return nil }
            self = .event(TransferEvent(number: number, kind, task))
        case "done": self = .done
        case "failed":
            guard let failure = value.object("error").flatMap({ Failure($0) }) else { return nil }
            self = .failed(failure)
        default: return nil
        }
    }
}

extension TransferEvent {
    fileprivate var shortened: TransferEvent {
        TransferEvent(number: number, kind.shortened, task.shortened)
    }

    /// Without what a plan or an origin may have made of any length.
    fileprivate var shortest: TransferEvent {
        TransferEvent(number: number, kind.shortened, task.shortened.withoutPaths)
    }
}

extension TransferEvent.Kind {
    /// What an earlier version has written to a journal has no bounds.
    fileprivate var shortened: TransferEvent.Kind {
        switch self {
        case .progress, .completed: self
        case .failed(let failure): .failed(failure.shortened)
        case .authentication(let schemes, let host):
            .authentication(
                schemes: schemes.prefix(8).map { $0.shortened(to: 32) },
                host: host.shortened(to: 500))
        }
    }

    /// A stable word.
    package var name: String {
        switch self {
        case .progress: "progress"
        case .completed: "completed"
        case .failed: "failed"
        case .authentication: "authentication"
        }
    }

    fileprivate var schemes: [String] {
        if case .authentication(let schemes, _) = self { schemes } else { [] }
    }

    fileprivate var host: String? {
        if case .authentication(_, let host) = self { host } else { nil }
    }

    fileprivate init?(_ value: JSONObject, _ task: TransferTask) {
        switch value.text("kind") {
        case "progress": self = .progress
        case "completed": self = .completed
        case "failed":
            guard let failure = task.failure else { return nil }
            self = .failed(failure)
        case "authentication":
            self = .authentication(
                schemes: value.texts("schemes") ?? [], host: value.text("host") ?? "")
        default: return nil
        }
    }
}
