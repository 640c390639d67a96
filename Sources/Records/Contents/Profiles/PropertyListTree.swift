internal import Base

/// A property list in XML as the tree that it is, for whoever judges how its parts belong together.
package struct PropertyListTree: Sendable {
    package enum Tag: String, Sendable {
        case string, integer, real, date, data, boolean
        /// A dictionary or a list.
        case container

        var words: String {
            switch self {
            case .integer: "an integer"
            case .container: "a list or a dictionary"
            case .data: "data"
            default: "a \(rawValue)"
            }
        }
    }

    package struct Node: Sendable {
        /// Its key in a dictionary; `*` in a list.
        package let name: [UInt8]
        package fileprivate(set) var tag = Tag.container
        /// Of a value, as it is spelled.
        package fileprivate(set) var bytes: [UInt8] = []
        package fileprivate(set) var children: [Node] = []

        /// The last of this key.
        package subscript(key: String) -> Node? {
            children.last { $0.name.elementsEqual(key.utf8) }
        }

        var isElement: Bool { name == ContentValues.element }
    }

    package let root: Node
    /// Whether it was well-formed to its end, and none of it was left out.
    package let isWhole: Bool

    package init(_ bytes: [UInt8]) {
        let (builder, isWhole) = MarkupPropertyList.read(bytes, into: PropertyListBuilder())
        root = builder.root
        self.isWhole = isWhole
    }
}

/// Bounded in count and depth, as `ContentValues` is.
private struct PropertyListBuilder: PropertyListSink {
    private var open: [PropertyListTree.Node] = [PropertyListTree.Node(name: [])]
    private var count = 0
    let byteLimit = 65_536

    var root: PropertyListTree.Node { open[0] }

    mutating func enter(_ name: [UInt8]) -> Bool {
        guard open.count <= ContentValues.depthLimit, count < 4096 else { return false }
        count += 1
        open.append(PropertyListTree.Node(name: name))
        return true
    }

    mutating func leave() {
        guard open.count > 1, let last = open.popLast() else { return }
        open[open.count - 1].children.append(last)
    }

    mutating func take(_ tag: [UInt8], _ kind: ContentValue.Kind, _ bytes: [UInt8]) -> Bool {
        open[open.count - 1].tag =
            kind == .word ? .boolean : PropertyListTree.Tag(rawValue: tag.text) ?? .string
        open[open.count - 1].bytes = bytes
        return true
    }
}
