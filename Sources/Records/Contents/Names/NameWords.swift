internal import Base

/// The words of a name, in lower case: `userPWDHash2` is `user`, `pwd`, `hash`.
///
/// Splits at everything that is no letter and where a capital starts a word; bytes that are no ASCII
/// count as letters. Works on bytes and without hashing, because every member of every content is
/// judged by its name.
package struct NameWords {
    /// The words without what separates them.
    private var joined: [UInt8] = []
    private var ends: [Int] = []

    /// - Parameter onlyASCII: whether other bytes separate words, as in `密码pwd`.
    package init(_ name: ArraySlice<UInt8>, onlyASCII: Bool = false) {
        let name = name.prefix(Self.lengthLimit)
        joined.reserveCapacity(name.count)
        for index in name.indices {
            let byte = name[index]
            let isLetter = byte.isASCIILetter || byte >= 0x80 && !onlyASCII
            if !isLetter || startsWord(at: index, in: name) { endWord() }
            if isLetter { joined.append(byte.asciiLowercased) }
        }
        endWord()
    }

    package var isEmpty: Bool { ends.isEmpty }

    package var texts: [String] { zip([0] + ends, ends).map { joined[$0..<$1].text } }

    /// Whether one of the words is in the list.
    func contains(_ list: WordList) -> Bool {
        var start = 0
        for end in ends {
            if list.candidates(joined[start]).contains(where: {
                $0.count == end - start && isAt(start, $0)
            }) {
                return true
            }
            start = end
        }
        return false
    }

    /// Whether one of the words ends with one of the list.
    func contains(suffixIn list: WordList) -> Bool {
        var start = 0
        for end in ends {
            let found = list.all.contains { $0.count <= end - start && isAt(end - $0.count, $0) }
            if found { return true }
            start = end
        }
        return false
    }

    /// Whether the words, put together, hold one of the list.
    func contains(partIn list: WordList) -> Bool {
        for start in joined.indices {
            let found = list.candidates(joined[start]).contains {
                $0.count <= joined.count - start && isAt(start, $0)
            }
            if found { return true }
        }
        return false
    }

    private func isAt(_ start: Int, _ text: [UInt8]) -> Bool {
        for index in text.indices where joined[start + index] != text[index] { return false }
        return true
    }

    private mutating func endWord() {
        if joined.count > ends.last ?? 0 { ends.append(joined.count) }
    }

    /// Whether a capital starts a word. A single one belongs to the capital after it: `OAuth`.
    private func startsWord(at index: Int, in name: ArraySlice<UInt8>) -> Bool {
        guard index > name.startIndex, name[index].isCapital else { return false }
        if !name[index - 1].isCapital { return true }
        let length = joined.count - (ends.last ?? 0)
        guard length > 1, index + 1 < name.endIndex else { return false }
        return name[index + 1].isASCIILetter && !name[index + 1].isCapital
    }

    /// No name of a parameter is longer; a longer one is judged by its start.
    private static let lengthLimit = 256
}

/// Words to look for, found by their first letter.
struct WordList {
    let all: [[UInt8]]
    private let byLetter: [[[UInt8]]]

    /// - Parameter words: in lower case, each starting with a letter of ASCII.
    init(_ words: [String]) {
        all = words.map { Array($0.utf8) }
        var table = [[[UInt8]]](repeating: [], count: 32)
        for word in all { table[Int(word[0] & 31)].append(word) }
        byLetter = table
    }

    func candidates(_ first: UInt8) -> [[UInt8]] { byLetter[Int(first & 31)] }
}

extension UInt8 {
    fileprivate var isCapital: Bool { self &- 0x41 < 26 }
}
