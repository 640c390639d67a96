/// A shell whose completions are written.
package enum Shell: String, CaseIterable {
    case bash
    case zsh
    case fish

    /// A script that completes the words of `root` and of all below it.
    package func completions(of root: Command<some Any>) -> String {
        switch self {
        case .bash: BashCompletions.write(root)
        case .zsh: ZshCompletions.write(root)
        case .fish: FishCompletions.write(root)
        }
    }

    /// `text` as one word that the shell takes as it is.
    func quoted(_ text: String) -> String {
        switch self {
        case .bash, .zsh: "'" + text.split("'").joined(separator: #"'\''"#) + "'"
        // fish knows two escapes between single quotes.
        case .fish:
            "'" + text.split("\\").joined(separator: #"\\"#).split("'").joined(separator: #"\'"#)
                + "'"
        }
    }
}

extension String {
    /// The parts between one character, empty ones too.
    fileprivate func split(_ separator: Character) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }
}
