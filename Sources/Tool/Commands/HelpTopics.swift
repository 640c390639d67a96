internal import CommandSyntax
internal import Filters
internal import Terminal

extension HelpTopic {
    static let all = [filters, configuration]

    /// For the help of commands.
    static let configurationHelp =
        "Options can stand in a file instead: see 'sallyport help configuration'."

    private static let filters = HelpTopic(
        name: "filters",
        lines: [
            "Examples:",
            "  host=*.shop.example and status>=400",
            "  method=POST and path=~'^/v[0-9]+/orders' and not type=image/*",
            "  header:cookie or request-header:authorization~bearer",
            "  body~nora@shop.example and duration>=200ms",
            "  time>=2026-03-09T07:05 and (process=curl or tls=TLSv1.2)",
            "  finding:URL-TOKEN or finding.severity>=high",
            "  ~d shop\\.example ~m POST !~c 2xx",
            "",
            "Conditions:",
            "  word            found in the URL; for connections, in the host or the cause",
            "  field=glob      the whole value; * stands for anything; != for none of the values",
            "  field~text      found in the value as it is; !~ for none of the values",
            "  field=~regex    found in the value; !=~ for none of the values",
            "  field>=value    numbers, times and levels: = != < <= > >=",
            "  header:NAME     there is such a header, in either head; also with all of the above",
            "",
            "Join them by and, or, not (also & | !) and parentheses; 'and' binds closer than"
                + " 'or'. Case makes no difference. Quote values that hold spaces or any of ( ) & |"
                + " by ' or \". What a record has no value for satisfies != and nothing else.",
            "",
            "Fields of exchanges:",
        ] + indented(FilterField.Subject.exchanges.names) + [
            "Fields of connections:"
        ] + indented(FilterField.Subject.connections.names) + [
            "Fields of messages:"
        ] + indented(FilterField.Subject.messages.names) + [
            "",
            "Sizes are written like 512, 10k or 1.5m, durations like 200ms or 1.5s, times in UTC"
                + " like 07:05 (of any day), 2026-03-09 or 2026-03-09T07:05:01Z; '=' holds for all"
                + " of that day, minute or second. A status may be a class: 4xx. size is the"
                + " response's, wait the time to its first byte. Contents (body, request-body,"
                + " response-body) are searched without their content coding, up to 64 MiB of each,"
                + " after everything else was asked; finding and finding.severity judge the whole"
                + " capture once, as 'sallyport check' does.",
            "",
            "Regular expressions have . [ ] [^ ] ( ) | * + ? {n,m} ^ $ \\b \\d \\s \\w and the flags"
                + " (?i) (?s) (?m); (?-i) minds the case. Back-references and looking around are"
                + " refused, so that no pattern takes more than time in proportion to the text.",
            "",
            "Shorthands of mitmproxy, with regular expressions:",
            "  ~u URL  ~d host  ~m method  ~c status  ~t type  ~tq ~ts of one side",
            "  ~h 'name: value' in a head  ~hq ~hs of one side  ~b content  ~bq ~bs of one side",
            "  ~src client  ~dst origin  ~q no response  ~s a response  ~e an error",
            "  ~a images, fonts, styles, scripts  ~websocket  ~http  ~tcp  ~all",
        ])

    private static let configuration = HelpTopic(
        name: "configuration",
        lines: [
            "Options that would be typed every time can stand in two files:",
            "  sallyport.conf in the current folder, for a project",
            "  ~/.config/sallyport/config, your own ($XDG_CONFIG_HOME if it is set)",
            "",
            "A line is an option's long name and its value, below the command that it is for; what"
                + " stands above all commands is for each that has such an option:",
            "  # every command that starts a proxy",
            "  pass-through = *.updates.example",
            "  pass-through = pinned.example",
            "",
            "  [run]",
            "  fail-on = medium",
            "  capture-all = yes",
            "",
            "  [flows list]",
            "  columns = time,status,url",
            "",
            "What is typed counts first, then the project's file, then your own; of options that may"
                + " be given several times, all count. A project may come from anybody, so its file"
                + " cannot lead traffic elsewhere, weaken a connection, show secrets or write"
                + " reports, and its paths stay inside its folder. It may say what is looked at and"
                + " what fails, so a note says what it has set: read it before you believe a"
                + " verdict.",
            "",
            "sallyport.policy in the current folder says what findings fail, what has to be seen and"
                + " what is accepted, and why: see --policy of 'check' and 'run'.",
            "",
            "SALLYPORT_CONFIG=FILE reads that file alone, and as your own; empty reads none.",
        ])

    private static func indented(_ names: [FilterField.Name]) -> [String] {
        TerminalText.wrapped(names.map(\.rawValue).joined(separator: ", "), columns: 76)
            .map { "  " + $0 }
    }
}
