internal import Base

/// How often an app wants to be woken: a quiet period after its last activity, and no timer.
package enum RefreshInterval: Sendable, Equatable {
    /// Not at all: what an app has that never asked, and one without an account.
    case never
    /// As often as the scheduler thinks fit.
    case minimum
    /// No sooner than this behind the last use and the last fetch.
    case seconds(Int64)

    /// Reads `never`, `minimum` or seconds, up to a year; `nil` for anything else.
    package init?(_ text: String) {
        switch text {
        case "never": self = .never
        case "minimum": self = .minimum
        default:
            guard let seconds = Int64(text), (0...Self.limit).contains(seconds) else { return nil }
            self = .seconds(seconds)
        }
    }

    package var text: String {
        switch self {
        case .never: "never"
        case .minimum: "minimum"
        case .seconds(let seconds): String(seconds)
        }
    }

    private static let limit: Int64 = 366 * 86_400
}
