import Foundation
import Testing

extension RealClientTests {
    /// What `completions` and `manual` print, read by the programs that they are for.
    struct ShellTests {
        /// What is typed, the last word not to its end, and what must be among the completions and
        /// what not.
        private static let rows: [(typed: String, wanted: [String], unwanted: [String])] = [
            ("fl", ["flows"], ["proxy"]),
            ("flows ", ["list", "show"], ["proxy"]),
            ("flows list --f", ["--filter"], ["--json"]),
            ("audit --profile ", ["quick", "standard", "full"], ["--origin"]),
            ("completions ", ["bash", "zsh", "fish"], ["flows"]),
            ("proxy --list", ["--listen"], ["--capture"]),
            ("run --capture x --js", ["--json"], ["--capture"]),
        ]

        @Test(.needs(.bash), arguments: rows.indices) func bash(_ number: Int) async throws {
            let row = Self.rows[number]
            let words =
                ["sallyport"]
                + row.typed.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            let script = """
                source ./completions
                COMP_WORDS=(\(words.map { "'\($0)'" }.joined(separator: " ")))
                COMP_CWORD=\(words.count - 1)
                # Only where a line is edited are there options to set.
                compopt() { :; }
                _sallyport
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            try await expect(row, in: .bash, ["--norc", "-c", script])
        }

        @Test(.needs(.fish), arguments: rows.indices) func fish(_ number: Int) async throws {
            let row = Self.rows[number]
            let script = "source ./completions; complete -C 'sallyport \(row.typed)'"
            try await expect(row, in: .fish, ["--no-config", "-c", script])
        }

        /// zsh completes on a terminal alone: its module zpty makes one.
        @Test(.needs(.zsh), arguments: rows.indices) func zsh(_ number: Int) async throws {
            let row = Self.rows[number]
            let script = """
                zmodload zsh/zpty
                zpty shell 'TERM=dumb zsh -f -i'
                zpty -w shell 'PROMPT=; COLUMNS=300; autoload -U compinit; compinit -D -u'
                zpty -w shell 'source ./completions; bindkey "^I" list-choices'
                zpty -w shell 'print ready-$((1 + 1))'
                zpty -r -m shell heard '*ready-2*'
                zpty -w -n shell 'sallyport \(row.typed)'$'\\t'
                zpty -w -n shell $'\\C-a: \\C-e; print done-$((1 + 1))\\n'
                zpty -r -m shell heard '*done-2*'
                print -r -- "${${heard#*$'\\n'}%done-*}"
                """
            try await expect(row, in: .zsh, ["-f", "-c", script])
        }

        /// A name with other bytes would become another name.
        @Test(.needs(.bash)) func refusesWhatIsNoText() async throws {
            let folder = try Folder()
            let program = try Program(
                .bash, ["-c", #"exec "$0" flows list $'a\xff'"#, Peer.sallyport.path ?? ""],
                in: folder)
            #expect(try await program.end() == 2)
            #expect(
                String(decoding: program.errors, as: UTF8.self).contains("argument 3 is not UTF-8"),
                "\(program.story)")
        }

        /// groff says on standard error what it does not understand.
        @Test(.needs(.groff)) func manual() async throws {
            let folder = try Folder()
            let page = try await Program.run(.sallyport, ["manual"], in: folder)
            let path = try folder.write("sallyport.1", String(decoding: page, as: UTF8.self))
            let program = try Program(
                .groff, ["-man", "-Tutf8", "-ww", "-rLL=100n", "-P-cbou", path], in: folder)
            #expect(try await program.end() == 0)
            #expect(program.errors.isEmpty, "\(program.story)")
            let text = String(decoding: program.output, as: UTF8.self)
            for words in ["--capture", "EXIT STATUS", "sallyport flows list", "path=~'^/v[0-9]+"] {
                #expect(text.contains(words), "\(words)")
            }
        }

        private func expect(
            _ row: (typed: String, wanted: [String], unwanted: [String]), in shell: Peer,
            _ arguments: [String]
        ) async throws {
            let folder = try Folder()
            let script = try await Program.run(
                .sallyport, ["completions", shell.name], in: folder)
            _ = try folder.write("completions", String(decoding: script, as: UTF8.self))
            let program = try Program(shell, arguments, in: folder)
            #expect(try await program.end() == 0)
            let text = String(decoding: program.output, as: UTF8.self)
            #expect(program.errors.isEmpty, "\(program.story)")
            let found = Set(text.split { $0.isWhitespace }.map(String.init))
            #expect(Set(row.wanted).isSubset(of: found), "\(row.typed): \(text)")
            let typed = row.typed.split(separator: " ").map(String.init)
            #expect(
                found.subtracting(typed).isDisjoint(with: row.unwanted), "\(row.typed): \(text)")
        }
    }
}
