/// What is stored as a word that the versions of the tool agree on.
typealias StoredWord = RawRepresentable<String> & CaseIterable & Sendable

/// The words of a column as the bytes that a row holds, so that reading one makes no text of it.
struct StoredWords<Word: StoredWord>: Sendable {
    private let words = Word.allCases.map { (bytes: [UInt8]($0.rawValue.utf8), word: $0) }

    subscript(bytes: [UInt8]) -> Word? {
        words.first { $0.bytes == bytes }?.word
    }
}
