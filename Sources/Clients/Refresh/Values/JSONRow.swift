internal import Base
internal import Contents

/// The members of one JSON object, by their names and kinds.
struct JSONRow {
    private let document: JSONDocument
    private let place: Int

    init(_ document: JSONDocument, at place: Int = JSONDocument.root) {
        self.document = document
        self.place = place
    }

    var names: [String] {
        document.members(of: place).map { document.key(of: $0.name).text }
    }

    func has(_ name: StaticString) -> Bool { document.member(name, of: place) != nil }

    func text(_ name: StaticString) -> String? {
        guard let found = document.member(name, of: place), document[found].kind == .string else {
            return nil
        }
        return document.key(of: found).text
    }

    /// A whole number, also one that is written as text; `otherwise` where there is none.
    func number(_ name: StaticString, or otherwise: Int64? = nil) -> Int64? {
        guard let found = document.member(name, of: place) else { return otherwise }
        guard document[found].kind == .number else { return nil }
        return Int64(document.key(of: found).text)
    }

    func flag(_ name: StaticString, or otherwise: Bool? = nil) -> Bool? {
        guard let found = document.member(name, of: place) else { return otherwise }
        switch document[found].kind {
        case .true: return true
        case .false: return false
        default: return nil
        }
    }

    /// An object in it; `nil` for anything else.
    func row(_ name: StaticString) -> JSONRow? {
        guard let found = document.member(name, of: place), document[found].kind == .object else {
            return nil
        }
        return JSONRow(document, at: found)
    }

    /// The texts of an array; `nil` for anything else.
    func texts(_ name: StaticString) -> [String]? {
        guard let found = document.member(name, of: place), document[found].kind == .array else {
            return nil
        }
        let elements = document.elements(of: found)
        guard elements.allSatisfy({ document[$0].kind == .string }) else { return nil }
        return elements.map { document.key(of: $0).text }
    }

    /// The objects of an array; `nil` for anything else.
    func rows(_ name: StaticString) -> [JSONRow]? {
        guard let found = document.member(name, of: place), document[found].kind == .array else {
            return nil
        }
        let elements = document.elements(of: found)
        guard elements.allSatisfy({ document[$0].kind == .object }) else { return nil }
        return elements.map { JSONRow(document, at: $0) }
    }
}
