/// The connections by which others reach a suspended process.
struct Callers {
    private var connections: [CallerConnection] = []
    /// A Boolean value indicating whether the kernel shows no connections of the process.
    private(set) var isHidden = false

    init() {}

    /// Finds the connections of processes, which are watched from now on.
    init(of processes: [Int32]) {
        let search = CallerConnection.all(of: processes)
        connections = search.connections
        isHidden = search.isRefused
    }

    /// Calls a function once for each connection on which something is there to be read.
    func watch(with poller: Poller, whenReady body: @escaping (ShortThaws.Source) -> Void) {
        for caller in connections { caller.watch(with: poller) { [source = caller.source] in body(source) } }
    }

    func endWatch() { for caller in connections { caller.endWatch() } }

    mutating func forget() { connections = [] }

    /// The servers of which the process has something to read.
    var unreadSources: Set<ShortThaws.Source> { Set(connections.filter(\.isReady).map(\.source)) }

    /// The bytes that it has not read.
    var unreadCounts: [ShortThaws.Source: Int] {
        connections.reduce(into: [:]) { $0[$1.source, default: 0] += $1.unreadCount }
    }
}
