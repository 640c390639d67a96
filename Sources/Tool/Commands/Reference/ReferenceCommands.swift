internal import CaptureStore
internal import CommandSyntax
internal import HTTPCodecs
internal import PublicSuffixes
internal import TLS
internal import Terminal

extension Command {
    /// `completions`: what a shell completes the tool's words with.
    static var completions: Command {
        Command(
            "completions", "print completions for a shell",
            examples: [
                Example(
                    purpose: "for this bash, until it ends",
                    line: "source <(sallyport completions bash)"),
                Example(
                    purpose: "for every fish from now on",
                    line: "sallyport completions fish"
                        + " > ~/.config/fish/completions/sallyport.fish"),
                Example(
                    purpose: "for every zsh, in a folder of its $fpath",
                    line: "sallyport completions zsh > ~/.zfunc/_sallyport"),
            ],
            arguments: CompletionArguments(),
            parameters: [.positional(\.shell, .choice("SHELL"), "which shell")],
            run: { arguments, environment in
                try environment.output.write(
                    arguments.shell.completions(of: CommandLineTool.root))
                return .clean
            })
    }

    /// `manual`: the manual page.
    static var manual: Command {
        Command(
            "manual", "print the manual page",
            examples: [
                Example(purpose: "read it", line: "sallyport manual | man -l -"),
                Example(
                    purpose: "install it for yourself",
                    line: "sallyport manual > ~/.local/share/man/man1/sallyport.1"),
            ],
            arguments: (), parameters: [],
            run: { _, environment in
                try environment.output.write(
                    ManualPage.write(
                        CommandLineTool.root, version: CommandLineTool.version,
                        topics: HelpTopic.all))
                return .clean
            })
    }
}

private struct CompletionArguments {
    var shell = Shell.bash
}

extension CommandLineTool {
    /// The libraries that the process has loaded, with their versions.
    static var libraries: [String] {
        [TLSLibrary.version] + CodecLibraries.versions
            + [DatabaseLibrary.version, BuiltInList.version]
    }
}
