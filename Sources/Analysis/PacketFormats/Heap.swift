/// Elements of which the least can be had first; both ways cost the logarithm of their number.
struct Heap<Element: Comparable> {
    private var elements: [Element] = []

    var first: Element? { elements.first }

    mutating func add(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(child, parent)
            child = parent
        }
    }

    mutating func pop() -> Element? {
        guard let result = elements.first, let last = elements.popLast() else { return nil }
        guard !elements.isEmpty else { return result }
        elements[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < elements.count {
                if elements[child] < elements[least] { least = child }
            }
            guard least != parent else { return result }
            elements.swapAt(parent, least)
            parent = least
        }
    }
}
