#if GTK
// `import EideticGTK` is enough for a program with widgets.
@_exported public import EideticViews
#endif
