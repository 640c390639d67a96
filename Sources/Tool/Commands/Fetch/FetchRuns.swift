internal import Base
internal import CommandSyntax
internal import Launching
internal import Origins
internal import Presentation
internal import Refresh
internal import Runs
internal import TLS
internal import Terminal
internal import Transfer

func runFetch(
    _ arguments: FetchRunArguments, _ environment: Environment
) async throws -> ExitCode {
    guard !arguments.isOnce || arguments.events == nil && arguments.service == nil else {
        throw UsageFailure("--once takes neither --events nor --push")
    }
    let configuration = try arguments.configuration(environment)
    let variables = environment.variables
    let options = configuration.proxies.daemonOptions
    let isText = environment.output.isTerminal && !arguments.isJSON
    let palette = environment.console.palette
    let service = try await FetchService(
        configuration,
        startingDaemon: { () throws(Failure) in
            try DaemonAccess(configuration.transfers, variables: variables).start(options)
        },
        tell: { event throws(Failure) in
            guard isText else {
                return try environment.output.write(event.json.line + [UInt8(ascii: "\n")])
            }
            guard let text = event.text(palette) else { return }
            try environment.output.write(text + "\n")
        })
    try StopSignals().watch(onStop: { _ in service.end() }, onTick: {})
    guard !arguments.isOnce else {
        switch try await service.refreshOnce() {
        case .upToDate: return .clean
        case .failed: return .findings
        case .unasked: return .inconclusive
        }
    }
    if let path = arguments.events {
        let open = environment.fileStreams.open
        DeviceEventFeed.start(path, for: service, app: arguments.app) { () throws(Failure) in
            try open(path)
        }
    } else {
        service.note(.screen(isOn: true))
        service.note(.opened(arguments.app))
        service.note(.closed(arguments.app))
    }
    try await service.run()
    return .clean
}

extension FetchRunArguments {
    fileprivate func configuration(_ environment: Environment) throws -> FetchConfiguration {
        var configuration = FetchConfiguration()
        var app = RefreshApp(app)
        app.interval = interval
        configuration.app = app
        configuration.urls = urls
        configuration.topic = topic
        if let service {
            configuration.push = DeviceSocket.Configuration(
                service: service, device: device, topics: [])
        }
        configuration.store = try store ?? FetchConfiguration.standardStore(environment.variables)
        configuration.assets = try Files.absolute(assets ?? configuration.store + "/assets")
        configuration.transfers = try TransferPlace(folder: transfers).daemonFolder(environment)
        if let authorities {
            let path = try Files.absolute(authorities)
            configuration.authoritiesPath = path
            configuration.authorities = try Certificate.authorities(
                inPEM: try environment.readFile(authorities), name: authorities)
        }
        configuration.proxies = try proxies.resolved(in: environment)
        configuration.managed = managed
        configuration.seed = UInt64(seed)
        return configuration
    }
}

extension ProxySource {
    /// What a daemon that is started for it is told; one that runs has proxies of its own.
    fileprivate var daemonOptions: [String] {
        var options: [String] = []
        if let proxy { options += ["--proxy", proxy.text] }
        if let profile { options += ["--profile", profile] }
        if let script { options += ["--proxy-script", script] }
        return options
    }

    /// The same with paths that hold in another folder, and the variables of its environment.
    fileprivate func resolved(in environment: Environment) throws(Failure) -> ProxySource {
        var source = self
        source.variables = environment.variables
        if let profile { source.profile = try Files.absolute(profile) }
        if let script, !Self.isURL(script) { source.script = try Files.absolute(script) }
        return source
    }
}

func runFetchItems(
    _ arguments: FetchItemsArguments, _ environment: Environment
) async throws -> ExitCode {
    let folder =
        try arguments.store ?? FetchConfiguration.standardStore(environment.variables)
    let items = try RefreshStore.items(in: folder)
    var lines = LineWriter(environment.output)
    var table = Listing(KeptItemTable.columns, names: nil, to: environment.console)
    for item in items {
        if arguments.isJSON {
            try lines.write(item.shownRow)
        } else {
            try table.append(item)
        }
    }
    try lines.flush()
    try table.finish()
    if items.isEmpty {
        try environment.note(
            Files.exists(folder)
                ? "no items are kept in \(folder)"
                : "nothing was fetched into \(folder): it is not there")
    }
    return .clean
}
