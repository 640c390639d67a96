internal import Base

/// Finds all forms of all planted values in one pass (Aho and Corasick, 1975).
struct PlantedAutomaton: Sendable {
    struct Hit: Hashable, Sendable {
        /// The value's place in the profile.
        let value: Int
        let encoding: PlantedEncoding
    }

    private struct Node: Sendable {
        let byte: UInt8
        var firstChild: Int32 = -1
        var sibling: Int32 = -1
        var failure: Int32 = 0
        /// The nearest node down the failure links that ends a form, -1 if none does.
        var output: Int32 = -1
        var hit: Hit?
    }

    private var nodes: [Node] = [Node(byte: 0)]
    private var rootChildren = [Int32](repeating: -1, count: 256)

    /// - Returns: `nil` if there is nothing to look for.
    init?(_ profile: SubjectProfile, digests: DigestFunctions) {
        guard !profile.values.isEmpty else { return nil }
        for (index, value) in profile.values.enumerated() {
            for (encoding, form) in PlantedEncoding.forms(of: value, digests: digests) {
                insert(form, Hit(value: index, encoding: encoding))
            }
        }
        link()
    }

    /// What occurs in the bytes, each value and encoding once.
    func hits(in bytes: [UInt8]) -> Set<Hit> {
        var result = Set<Hit>()
        scan(bytes) { hit in
            result.insert(hit)
            return true
        }
        return result
    }

    func occurs(in bytes: [UInt8]) -> Bool {
        var found = false
        scan(bytes) { _ in
            found = true
            return false
        }
        return found
    }

    private func scan(_ bytes: [UInt8], _ visit: (Hit) -> Bool) {
        var state: Int32 = 0
        for byte in bytes {
            state = successor(of: state, by: byte)
            var output = nodes[Int(state)].hit == nil ? nodes[Int(state)].output : state
            while output > 0 {
                if let hit = nodes[Int(output)].hit, !visit(hit) { return }
                output = nodes[Int(output)].output
            }
        }
    }

    private func successor(of state: Int32, by byte: UInt8) -> Int32 {
        var current = state
        while current != 0 {
            if let next = child(of: current, by: byte) { return next }
            current = nodes[Int(current)].failure
        }
        return max(0, rootChildren[Int(byte)])
    }

    private func child(of node: Int32, by byte: UInt8) -> Int32? {
        if node == 0 {
            let next = rootChildren[Int(byte)]
            return next < 0 ? nil : next
        }
        var next = nodes[Int(node)].firstChild
        while next >= 0 {
            if nodes[Int(next)].byte == byte { return next }
            next = nodes[Int(next)].sibling
        }
        return nil
    }

    private mutating func insert(_ form: [UInt8], _ hit: Hit) {
        guard form.count >= Self.shortestForm else { return }
        var current: Int32 = 0
        for byte in form {
            if let next = child(of: current, by: byte) {
                current = next
                continue
            }
            var node = Node(byte: byte)
            let next = Int32(nodes.count)
            if current == 0 {
                rootChildren[Int(byte)] = next
            } else {
                node.sibling = nodes[Int(current)].firstChild
                nodes[Int(current)].firstChild = next
            }
            nodes.append(node)
            current = next
        }
        // Two values may share a form, and one value's plain form is often its other ones too:
        // the first wins.
        if nodes[Int(current)].hit == nil { nodes[Int(current)].hit = hit }
    }

    /// Sets the failure links, by rising depth.
    private mutating func link() {
        var queue = rootChildren.filter { $0 >= 0 }
        var head = 0
        while head < queue.count {
            let node = queue[head]
            head += 1
            let failure = nodes[Int(node)].failure
            nodes[Int(node)].output =
                nodes[Int(failure)].hit == nil ? nodes[Int(failure)].output : failure
            var next = nodes[Int(node)].firstChild
            while next >= 0 {
                nodes[Int(next)].failure = successor(of: failure, by: nodes[Int(next)].byte)
                queue.append(next)
                next = nodes[Int(next)].sibling
            }
        }
    }

    private static let shortestForm = 6
}
