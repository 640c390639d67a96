internal import Base
internal import Contents
package import HTTPModel

/// Which values of recorded requests were handed out by recorded responses, and where: found in one
/// pass over the recording, in the order of its events.
package struct SubstitutionPlan: Sendable {
    /// Where a response holds a value.
    package struct Source: Sendable, Hashable {
        package let exchange: Int64
        package let place: ValuePlace
        /// Which one of those at the same place, from 0.
        package let ordinal: Int
    }

    /// A value that goes from responses to requests.
    package struct Value: Sendable {
        /// In the order of the recording; a later one counts if those before it bring none.
        package internal(set) var sources: [Source]
        /// In bytes.
        package let length: Int
        /// Whether it is known by its cookie or its list alone, however short.
        package let isLocal: Bool
        package internal(set) var uses: [(exchange: Int64, name: String)] = []
    }

    /// A place of a request, and the value that it holds.
    struct Use: Sendable {
        let slot: RequestSlot
        let value: Int
    }

    private struct Key: Hashable {
        /// For a value that counts in this cookie only.
        var cookie: String?
        /// For one that counts in paths, behind this segment only.
        var collection: String?
        let bytes: [UInt8]
    }

    /// All that responses handed out; those that no request uses go with `finish`.
    private var found: [Value] = []
    private var numbers: [Key: Int] = [:]
    /// Hashes of the values that clients were the first to send.
    private var own: Set<Int> = []
    private var usesOfExchange: [Int64: [Use]] = [:]
    private var sourcesOfExchange: [Int64: [Source: [Int]]] = [:]
    /// The last segments of the paths of requests that are not answered yet.
    private var asked: [Int64: String] = [:]
    private let keeps: Set<String>

    /// How many values are followed at most: a few hundred bytes each.
    private static let valueLimit = 100_000
    private static let ownLimit = 1_000_000
    private static let sourceLimit = 4

    /// - Parameter keeps: places of responses, as `ValuePlace` describes them, that bring nothing.
    package init(keeps: Set<String> = []) {
        self.keeps = keeps
    }

    /// The values that requests use, in the order in which responses first held them.
    package var values: [Value] { found.filter { !$0.uses.isEmpty } }

    // MARK: Building

    /// Takes a request; everything that was there before it must have been taken.
    package mutating func note(_ head: RequestHead, _ content: [UInt8], ofRequest id: Int64) {
        asked[id] = RecordedURL(head.target).path.split(separator: 0x2F).last?.text ?? ""
        RequestSlots.read(head, content) { slot, bytes in
            let number = slot.cookie.flatMap { numbers[Key(cookie: $0, bytes: bytes)] }
            let listed = slot.collection.map { Key(collection: $0, bytes: bytes) }
            guard
                let known = number ?? numbers[Key(bytes: bytes)] ?? listed.flatMap({ numbers[$0] })
            else {
                let isWorthIt = bytes.count >= ValueRule.leastNamedLength
                if isWorthIt, own.count < Self.ownLimit { own.insert(bytes.hashValue) }
                if let listed, own.count < Self.ownLimit { own.insert(listed.hashValue) }
                return false
            }
            found[known].uses.append((id, slot.name))
            usesOfExchange[id, default: []].append(Use(slot: slot, value: known))
            return true
        }
    }

    /// Takes a response.
    package mutating func note(_ head: ResponseHead, _ content: [UInt8], ofResponse id: Int64) {
        var counts: [ValuePlace: Int] = [:]
        let asked = asked.removeValue(forKey: id) ?? ""
        var segment = ""
        ResponseValues.read(head, content) { place, bytes in
            let source = Source(exchange: id, place: place, ordinal: counts[place, default: 0])
            counts[place] = source.ordinal + 1
            var before: String?
            if case .urlSegment(_, let number) = place {
                before = number > 1 ? segment : nil
                segment = bytes.text
            }
            guard !keeps.contains(place.description) else { return }
            add(source, bytes, place.collections(behind: before, asked: asked))
        }
    }

    private mutating func add(_ source: Source, _ bytes: [UInt8], _ collections: [String]) {
        var keys: [Key] = []
        if ValueRule.isDistinctive(bytes, name: source.place.name), !own.contains(bytes.hashValue) {
            keys.append(Key(bytes: bytes))
        }
        if case .cookie(let name) = source.place, !bytes.isEmpty {
            keys.append(Key(cookie: name, bytes: bytes))
        }
        if ValueRule.isID(bytes) {
            keys += collections.map { Key(collection: $0, bytes: bytes) }
                .filter { !own.contains($0.hashValue) }
        }
        for key in keys {
            if let known = numbers[key] {
                guard found[known].sources.count < Self.sourceLimit,
                    found[known].sources.last != source
                else { continue }
                found[known].sources.append(source)
                sourcesOfExchange[source.exchange, default: [:]][source, default: []].append(known)
            } else if found.count < Self.valueLimit {
                numbers[key] = found.count
                sourcesOfExchange[source.exchange, default: [:]][source, default: []].append(
                    found.count)
                found.append(
                    Value(
                        sources: [source], length: bytes.count,
                        isLocal: key.cookie != nil || key.collection != nil))
            }
        }
    }

    /// Forgets what only the search needed.
    package mutating func finish() {
        numbers = [:]
        own = []
        asked = [:]
        sourcesOfExchange = sourcesOfExchange.compactMapValues { sources in
            let used = sources.compactMapValues { numbers -> [Int]? in
                let rest = numbers.filter { !found[$0].uses.isEmpty }
                return rest.isEmpty ? nil : rest
            }
            return used.isEmpty ? nil : used
        }
    }

    // MARK: Use

    func uses(ofRequest id: Int64) -> [Use] { usesOfExchange[id] ?? [] }

    func sources(ofResponse id: Int64) -> [Source: [Int]] { sourcesOfExchange[id] ?? [:] }

    func value(_ number: Int) -> Value { found[number] }

    /// The exchanges whose answers a request needs before it can be sent.
    package func needs(ofRequest id: Int64) -> Set<Int64> {
        Set(uses(ofRequest: id).compactMap { found[$0.value].sources.first?.exchange })
    }

    /// Whether an answer's content is of use.
    package func wants(answerTo id: Int64) -> Bool { sourcesOfExchange[id] != nil }
}
