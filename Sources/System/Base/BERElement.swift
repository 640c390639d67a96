/// A tag of one byte, with its content (X.690 §8.1).
package struct BERElement {
    package let tag: UInt8
    package let content: ArraySlice<UInt8>

    /// The elements that the content consists of, up to the first that is none.
    package var elements: [BERElement] {
        var cursor = ByteCursor(content)
        var elements: [BERElement] = []
        while elements.count < Self.countLimit, let element = cursor.element() {
            elements.append(element)
        }
        return elements
    }

    /// The content as a number of at most four bytes.
    package var number: Int? {
        guard tag == 0x02, (1...4).contains(content.count) else { return nil }
        return content.reduce(0) { $0 << 8 | Int($1) }
    }

    private static let countLimit = 256
}

extension ByteCursor {
    /// Takes an element with a length of the short or the long form.
    ///
    /// - Parameter mayBeCut: whether the content may be longer than the bytes that there are.
    package mutating func element(mayBeCut: Bool = false) -> BERElement? {
        guard let tag = number(1), let first = number(1) else { return nil }
        var length = first
        if first & 0x80 != 0 {
            guard (1...4).contains(first & 0x7F), let long = number(first & 0x7F) else {
                return nil
            }
            length = long
        }
        if mayBeCut { length = min(length, rest.count) }
        return bytes(length).map { BERElement(tag: UInt8(truncatingIfNeeded: tag), content: $0) }
    }

    /// Takes an element, and gives its content if it has the tag.
    package mutating func content(of tag: UInt8, mayBeCut: Bool = false) -> ArraySlice<UInt8>? {
        element(mayBeCut: mayBeCut).flatMap { $0.tag == tag ? $0.content : nil }
    }
}
