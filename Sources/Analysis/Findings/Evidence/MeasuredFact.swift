internal import Base
package import Traffic

/// A fact of a finding that has numbers of its own.
package enum MeasuredFact: Sendable, Hashable {
    case readable(ConnectionRecord.Side, PlaintextForm, offset: Int)
    case noPlaintext(ConnectionRecord.Side, inAtLeast: Int)
    case repeatsItself(offset: Int)
    case redirected(Int)
    case saves(Int64, of: Int64, responses: Int)
    case fetchedAgain(Int, wasted: Int64)
    case polled(Int, seconds: Int64)
    case beganAnew(lost: Int64)
    case overBudget(BudgetedAmount, Int64, of: Int64)
    case image(width: Int, height: Int, bytes: Int64)

    var text: String {
        switch self {
        case .readable(let side, let form, let offset):
            "\(form.rawValue) from the \(side.rawValue)'s side, at byte \(offset)"
        case .noPlaintext(let side, let count):
            "no plaintext found in \(count) bytes or more from the \(side.rawValue)'s side; not TLS"
        case .repeatsItself(let offset): "from byte \(offset) on"
        case .redirected(let count): "\(count) requests began with http"
        case .saves(let saved, let size, let count):
            "about \(Quantity.text(byteCount: saved)) of \(Quantity.text(byteCount: size)) bytes"
                + " could be saved in \(Quantity.text(count, "response"))"
        case .fetchedAgain(let count, let wasted):
            "fetched \(count) times, \(Quantity.text(byteCount: wasted)) bytes for nothing"
        case .polled(let count, let seconds):
            "\(count) answers in a row without news, in \(seconds) s"
        case .beganAnew(let lost):
            "began anew after \(Quantity.text(byteCount: lost)) bytes had come"
        case .overBudget(let amount, let used, let limit):
            "\(amount.text(used)) of \(amount.text(limit)) that the policy allows"
        case .image(let width, let height, let bytes):
            "\(width)x\(height) pixels in \(Quantity.text(byteCount: bytes)) bytes"
        }
    }
}
