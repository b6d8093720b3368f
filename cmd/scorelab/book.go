package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/scorekit/lab/internal/notebook"
	"github.com/scorekit/lab/internal/setup"
)

func bookCommand() *cobra.Command {
	book := notebook.Book{Title: "Score matching, notebook by notebook"}
	command := &cobra.Command{
		Use:   "book",
		Short: "Make a book of HTML pages from the notebooks, after a set-up where one is needed",
		Long: `Makes a page of every notebook as it is, with the outputs that are stored in it, and a page with the contents. Nothing is
executed. The pages need no network, not for the mathematics either: the folder can be put on any web server or stick.`,
		Args: func(command *cobra.Command, arguments []string) error { return noArguments(command, arguments) },
		RunE: func(command *cobra.Command, _ []string) error {
			s, err := setup.Find(".", false)
			if err != nil {
				return err
			}
			folder := filepath.Join(s.Checkout, "notebooks")
			all, err := notebook.List(folder)
			if err != nil {
				return err
			}
			if err := s.Ensure(command.Context()); err != nil {
				return err
			}
			book.Setup, book.Contents = s, filepath.Join(folder, "README.md")
			if book.Folder == "" {
				book.Folder = filepath.Join(s.Checkout, "build", "book")
			}
			index, err := book.Make(command.Context(), all)
			if err == nil {
				fmt.Printf("%d notebooks in the book, its contents: %s\n", len(all), index)
			}
			return err
		},
	}
	command.Flags().StringVar(&book.Folder, "out", "", "output folder (default build/book in the checkout)")
	return command
}
