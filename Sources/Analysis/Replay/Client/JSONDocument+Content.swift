internal import Contents

/// The values of a content that may come from another message, or be handed on to one.
extension JSONDocument {
    /// Calls `visit` with the places of texts and numbers, up to limits, and their paths.
    func textsAndNumbers(_ visit: (_ path: String, Int) -> Void) {
        var count = 0
        var room = Self.contentPathLimit
        _ = leaves(room: &room) { path, place in
            let kind = self[place].kind
            guard kind == .string || kind == .number, count < Self.contentLimit else { return }
            count += 1
            visit(path, place)
        }
    }

    /// The text that is meant, or the number as it is spelled.
    func content(of place: Int) -> [UInt8] {
        Array(self[place].kind == .string ? key(of: place) : spelling(of: place))
    }

    /// How many values of one content are looked at.
    private static let contentLimit = 20_000
    /// In bytes: what the paths of one content may have together.
    private static let contentPathLimit = 4 << 20
}
