#if GTK
import CGTK

/// The widgets of the window, by name.
@MainActor
struct Interface {
    private let builder: OpaquePointer

    init() {
        guard let builder = gtk_builder_new_from_string(Self.description, -1) else {
            preconditionFailure("no interface")
        }
        self.builder = builder
    }

    /// Returns a widget for GTK's functions that take any widget.
    func widget(_ name: String) -> UnsafeMutablePointer<GtkWidget> { eidetic_widget(object(name)) }

    /// Returns a widget of a type that Swift imports as opaque.
    func opaque(_ name: String) -> OpaquePointer { OpaquePointer(object(name)) }

    /// Returns a widget of a type that Swift imports as a structure.
    func pointer<Type>(_ name: String, as type: Type.Type) -> UnsafeMutablePointer<Type> {
        object(name).assumingMemoryBound(to: type)
    }

    func object(_ name: String) -> UnsafeMutableRawPointer {
        guard let object = gtk_builder_get_object(builder, name) else { preconditionFailure("no \(name)") }
        return UnsafeMutableRawPointer(object)
    }

    static let style = """
        .gallery-grid { background: transparent; padding: 14px; }
        .gallery-grid > child { padding: 7px; margin: 0; background: none; border-radius: 18px; outline-offset: -4px; }
        .tile { border-radius: 12px; background: alpha(currentColor, 0.07); transition: 180ms ease-out;
            box-shadow: 0 1px 3px rgba(0, 0, 0, 0.18); }
        .gallery-grid > child:hover .tile { box-shadow: 0 5px 16px rgba(0, 0, 0, 0.34); filter: brightness(1.07); }
        .gallery-grid > child:active .tile { filter: brightness(0.92); }
        .stage { background: #0b0b0d; }
        .stage .caption { background: rgba(0, 0, 0, 0.55); color: white; border-radius: 999px; padding: 7px 18px;
            margin: 18px; }
        .stage .caption .fact { color: rgba(255, 255, 255, 0.72); font-size: smaller; }
        .stage button.circular { background: rgba(0, 0, 0, 0.45); color: white; border: none; box-shadow: none;
            min-width: 44px; min-height: 44px; margin: 16px; }
        .stage button.circular:hover { background: rgba(255, 255, 255, 0.22); }
        .stage button.circular:disabled { opacity: 0; }
        .badge { background: #e5a50a; color: #241f00; border-radius: 999px; padding: 1px 12px; font-size: smaller;
            font-weight: bold; margin: 6px; }
        .amount { font-feature-settings: "tnum"; }
        .facts { padding: 6px; }
        """

    static let description = """
        <interface>
          <object class="GtkPopover" id="cache-popover">
            <property name="child">
              <object class="GtkBox">
                <property name="orientation">vertical</property>
                <property name="spacing">10</property>
                <style><class name="facts"/></style>
                <child><object class="GtkLabel" id="cache-title">
                  <property name="label">Cache</property><property name="xalign">0</property>
                  <style><class name="heading"/></style>
                </object></child>
                <child><object class="GtkLabel" id="cache-facts">
                  <property name="xalign">0</property><style><class name="amount"/></style>
                </object></child>
                <child><object class="GtkButton" id="clear">
                  <property name="label">Clear cache</property>
                  <property name="tooltip-text">Remove all images from memory and disk</property>
                  <style><class name="destructive-action"/></style>
                </object></child>
              </object>
            </property>
          </object>
          <object class="GtkHeaderBar" id="header">
            <property name="title-widget">
              <object class="GtkBox">
                <property name="orientation">vertical</property><property name="valign">center</property>
                <child><object class="GtkLabel" id="title">
                  <property name="label">Gallery</property><property name="ellipsize">end</property>
                  <style><class name="title"/></style>
                </object></child>
                <child><object class="GtkLabel" id="subtitle">
                  <property name="ellipsize">end</property><style><class name="subtitle"/></style>
                </object></child>
              </object>
            </property>
            <child type="start"><object class="GtkButton" id="back">
              <property name="icon-name">go-previous-symbolic</property><property name="visible">0</property>
              <property name="tooltip-text">Back to the grid (Escape)</property>
              <accessibility><property name="label">Back to the grid</property></accessibility>
            </object></child>
            <child type="start"><object class="GtkButton" id="refresh">
              <property name="icon-name">view-refresh-symbolic</property>
              <property name="tooltip-text">Check for newer images (F5)</property>
              <accessibility><property name="label">Refresh</property></accessibility>
            </object></child>
            <child type="start"><object class="GtkLabel" id="offline">
              <property name="label">Offline</property><property name="visible">0</property>
              <property name="valign">center</property>
              <property name="tooltip-text">The server cannot be reached; what you see is from the cache</property>
              <style><class name="badge"/></style>
            </object></child>
            <child type="end"><object class="GtkMenuButton" id="cache">
              <property name="popover">cache-popover</property><property name="label">Cache</property>
              <property name="tooltip-text">Size of the cached images</property>
              <style><class name="amount"/></style>
              <accessibility><property name="label">Size of the cache</property></accessibility>
            </object></child>
            <child type="end"><object class="GtkToggleButton" id="dark">
              <property name="icon-name">weather-clear-night-symbolic</property>
              <property name="tooltip-text">Dark (Ctrl+D)</property>
              <accessibility><property name="label">Dark colours</property></accessibility>
            </object></child>
          </object>
          <object class="GtkStack" id="stack">
            <property name="transition-type">crossfade</property><property name="transition-duration">160</property>
            <child><object class="GtkStackPage"><property name="name">grid</property><property name="child">
              <object class="GtkScrolledWindow" id="scrolled">
                <property name="accessible-role">group</property>
                <property name="hscrollbar-policy">never</property><property name="vexpand">1</property>
                <accessibility><property name="label">Grid of images</property></accessibility>
                <property name="child"><object class="GtkGridView" id="grid">
                  <property name="single-click-activate">1</property>
                  <property name="min-columns">1</property><property name="max-columns">12</property>
                  <style><class name="gallery-grid"/></style>
                  <accessibility><property name="label">Images</property></accessibility>
                </object></property>
              </object></property></object></child>
            <child><object class="GtkStackPage"><property name="name">detail</property><property name="child">
              <object class="GtkOverlay" id="stage">
                <style><class name="stage"/></style>
                <property name="child"><object class="GtkPicture" id="detail">
                  <property name="content-fit">contain</property><property name="can-shrink">1</property>
                  <property name="hexpand">1</property><property name="vexpand">1</property>
                </object></property>
                <child type="overlay"><object class="GtkButton" id="earlier">
                  <property name="icon-name">go-previous-symbolic</property>
                  <property name="halign">start</property><property name="valign">center</property>
                  <property name="tooltip-text">Previous image (Left)</property>
                  <style><class name="circular"/></style>
                  <accessibility><property name="label">Previous image</property></accessibility>
                </object></child>
                <child type="overlay"><object class="GtkButton" id="later">
                  <property name="icon-name">go-next-symbolic</property>
                  <property name="halign">end</property><property name="valign">center</property>
                  <property name="tooltip-text">Next image (Right)</property>
                  <style><class name="circular"/></style>
                  <accessibility><property name="label">Next image</property></accessibility>
                </object></child>
                <child type="overlay"><object class="GtkBox">
                  <property name="halign">center</property><property name="valign">end</property>
                  <property name="spacing">10</property><style><class name="caption"/></style>
                  <child><object class="GtkLabel" id="name"><property name="ellipsize">end</property></object></child>
                  <child><object class="GtkLabel" id="fact"><style><class name="fact"/></style></object></child>
                </object></child>
              </object></property></object></child>
            <child><object class="GtkStackPage"><property name="name">empty</property><property name="child">
              <object class="GtkLabel" id="message">
                <property name="wrap">1</property><property name="margin-start">40</property>
                <property name="margin-end">40</property><style><class name="dim-label"/></style>
              </object></property></object></child>
          </object>
        </interface>
        """
}
#endif
