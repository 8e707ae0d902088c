import Eidetic
import EideticCore

/// What a command line asks to be loaded, and what is to be done with it.
struct LoadArguments: Sendable {
    /// A URL, and how often the list names it.
    struct Item: Sendable {
        let url: String
        /// The name of its file, without an ending.
        let name: String
        var count = 1
    }

    /// The URLs in the order of the list, each once.
    let items: [Item]
    /// The size into which pictures are fitted; `nil` for their own.
    let size: PixelSize?
    /// Downloads at once.
    let concurrency: Int
    /// How the network is asked.
    let network: NetworkArguments
    /// The directory into which pictures are written.
    let outputDirectory: String?
    /// The file of the contact sheet.
    let contactSheetFile: String?
    /// How pictures are shown.
    let graphics: TerminalGraphics?
    /// Whether the outcome is written for programs.
    let writesJSON: Bool
    /// Whether the record of each load is told.
    let explainsLoads: Bool
    /// What is asked for besides what the command itself needs.
    let options: ImageOptions

    init(_ arguments: Arguments, urls: [String]) {
        items = Self.items(for: urls)
        size = arguments[CommonOptions.size]
        concurrency = arguments[LoadCommand.concurrency] ?? 6
        network = NetworkArguments(arguments)
        outputDirectory = arguments[LoadCommand.outputDirectory]
        contactSheetFile = arguments[LoadCommand.contactSheet]
        graphics = arguments.contains(LoadCommand.show.option) ? arguments[LoadCommand.show] ?? .detect() : nil
        writesJSON = arguments.contains(CommonOptions.json)
        explainsLoads = arguments.contains(LoadCommand.explain)
        options = LoadCommand.options(arguments)
    }

    /// How many outcomes there will be.
    var urlCount: Int { items.reduce(0) { $0 + $1.count } }

    private static func items(for urls: [String]) -> [Item] {
        var indices: [String: Int] = [:]
        var items: [Item] = []
        var names = UniqueFileNames()
        for url in urls {
            if let index = indices[url] {
                items[index].count += 1
            } else {
                indices[url] = items.count
                items.append(Item(url: url, name: names.next(for: url)))
            }
        }
        return items
    }
}
