"""What people ask of results: a folder for each question.

``find`` makes typed findings from records, ``say`` the sentences and tables, ``draw`` the charts.
"""
