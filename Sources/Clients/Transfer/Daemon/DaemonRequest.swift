internal import Base
internal import Contents

/// What a client asks of the daemon: one line of the schema `sallyport.transfer-control/1`.
package enum DaemonRequest: Sendable, Equatable {
    /// All tasks, or those of a session.
    case list(session: String?)
    case show(String)
    /// Makes a task of the plan, and lets it go on.
    case add(TransferPlan)
    case resume(String)
    case suspend(String)
    case cancel(String)
    /// The owner has heard the events up to this one; `nil` for all.
    case acknowledge(String, event: Int64?)
    /// Tells of one task, whenever it has changed, until it has ended.
    case follow(String)
    /// Takes a session up: what was not acknowledged, and then what happens.
    case watch(session: String)
    /// Ends the daemon; its transfers go on when it is started next.
    case stop

    package static let schema = "sallyport.transfer-control/1"

    /// Whether what it asks for goes out.
    var needsNetwork: Bool {
        switch self {
        case .add, .resume: true
        case .list, .show, .suspend, .cancel, .acknowledge, .follow, .watch, .stop: false
        }
    }

    var line: [UInt8] {
        let (name, value): (String, (String, JSONText)?) =
            switch self {
            case .list(let session): ("list", session.map { ("session", .string($0)) })
            case .show(let id): ("show", ("id", .string(id)))
            case .add(let plan):
                (plan.kind == .download ? "get" : "put", ("plan", plan.journal))
            case .resume(let id): ("resume", ("id", .string(id)))
            case .suspend(let id): ("suspend", ("id", .string(id)))
            case .cancel(let id): ("cancel", ("id", .string(id)))
            case .acknowledge(let id, _): ("acknowledge", ("id", .string(id)))
            case .follow(let id): ("follow", ("id", .string(id)))
            case .watch(let session): ("watch", ("session", .string(session)))
            case .stop: ("stop", nil)
            }
        var members = [
            JSONText.Member("schema", .string(Self.schema)),
            JSONText.Member("request", .string(name)),
        ]
        if let value { members.append(JSONText.Member(value.0, value.1)) }
        if case .acknowledge(_, let event?) = self {
            members.append(JSONText.Member("event", .integer(event)))
        }
        return JSONText.object(members).line
    }

    /// Reads a request.
    ///
    /// Errors: `schema-unknown`, `request-unknown`, `request-malformed`.
    init(line: [UInt8]) throws(Failure) {
        guard let value = JSONObject(line) else {
            throw Self.malformed("it is no object of JSON")
        }
        guard value.text("schema") == Self.schema else {
            throw Failure(
                "schema-unknown", party: .client, "this daemon speaks \(Self.schema) only",
                hint: "use the same version of the tool, or stop the daemon")
        }
        let name = value.text("request") ?? ""
        switch name {
        case "list": self = .list(session: value.text("session"))
        case "get", "put": self = .add(try Self.plan(value, name))
        case "watch":
            self = .watch(session: try Self.checked(value.text("session"), "session"))
        case "stop": self = .stop
        case "show", "resume", "suspend", "cancel", "acknowledge", "follow":
            self = Self.about(
                try Self.checked(value.text("id"), "id"), name, event: value.integer("event"))
        default:
            throw Failure(
                "request-unknown", party: .client, "there is no request '\(name.prefix(64))'")
        }
    }

    private static func about(_ id: String, _ name: String, event: Int64?) -> DaemonRequest {
        switch name {
        case "show": .show(id)
        case "resume": .resume(id)
        case "suspend": .suspend(id)
        case "cancel": .cancel(id)
        case "follow": .follow(id)
        default: .acknowledge(id, event: event)
        }
    }

    private static func plan(
        _ value: JSONObject, _ name: String
    ) throws(Failure) -> TransferPlan {
        guard let plan = value.object("plan").flatMap({ TransferPlan($0) }) else {
            throw malformed("it has no plan")
        }
        if let value = value.object("plan"), value.has("options"), !value.isNull("options") {
            guard let options = value.object("options") else { throw malformed("its options") }
            if let name = plan.options.unread(in: options) {
                throw malformed("'\(name)' of its options")
            }
        }
        guard plan.kind == (name == "get" ? .download : .upload) else {
            throw malformed("its plan is of another kind")
        }
        _ = try checked(plan.session, "session")
        // The daemon is in another folder than the client.
        if let file = plan.file, !file.hasPrefix("/") || file.utf8.contains(0) {
            throw malformed("the file has no path from the root on")
        }
        return plan
    }

    /// A name of a session or a task.
    private static func checked(_ name: String?, _ what: String) throws(Failure) -> String {
        guard let name, !name.isEmpty, name.utf8.count <= nameLimit,
            name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw malformed("its \(what) is missing, too long or has control characters") }
        return name
    }

    private static func malformed(_ reason: String) -> Failure {
        Failure("request-malformed", party: .client, "the request cannot be read: \(reason)")
    }

    /// In bytes.
    private static let nameLimit = 256
}
