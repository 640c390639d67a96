internal import Base
internal import Contents

/// The scalars of JSON text with the names on the way to them, within bounds.
enum JSONScalars {
    /// Calls `visit` for each scalar, in order, until it returns false; of values in a row (JSON
    /// Lines), for those of each.
    ///
    /// - Returns: whether the text is well-formed and no deeper than `depthLimit`; what came before
    ///   a flaw has been visited.
    @discardableResult
    static func read(
        _ bytes: [UInt8], _ visit: (_ path: [[UInt8]], JSONToken, _ value: [UInt8]) -> Bool
    ) -> Bool {
        var path: [[UInt8]] = []
        var tokens = JSONTokenizer(depthLimit: depthLimit, isSequence: true)
        do throws(JSONViolation) {
            while let token = try tokens.next(in: bytes.span) {
                switch token.kind {
                case .beginObject, .beginArray: path.append(MessageField.anyElement)
                case .endObject, .endArray: path.removeLast()
                case .name: path[path.count - 1] = Array(token.text(in: bytes).prefix(keyLimit))
                case .string, .number, .true, .false, .null:
                    guard token.isWhole else { return false }
                    let value = token.text(in: bytes).prefix(MessageField.valueLimit)
                    guard visit(path, token, Array(value)) else { return true }
                }
            }
        } catch { return false }
        return tokens.isComplete
    }

    static let depthLimit = 64
    private static let keyLimit = 256
}
